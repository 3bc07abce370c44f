-- What every lab writes its figures with: the published one beside our own, with its grade.
--   exact   the same inputs and the same hash: the same figure
--   close   other keys or one draw of many: within an error that is stated
--   real    theirs was arithmetic: ours is done on real rows
CREATE SCHEMA lab;
CREATE TABLE lab.figures (
	at int GENERATED ALWAYS AS IDENTITY, lab text, what text, published text, ours text,
	grade text CHECK (grade IN ('exact', 'close', 'real')), holds boolean NOT NULL
);

CREATE FUNCTION lab.exact(lab text, what text, published anyelement, ours anyelement) RETURNS void LANGUAGE sql AS $$
	INSERT INTO lab.figures (lab, what, published, ours, grade, holds)
	VALUES (lab, what, published::text, ours::text, 'exact', coalesce(published = ours, false))
$$;

-- within: the largest difference that sampling explains, in the unit of the figures
CREATE FUNCTION lab.close(lab text, what text, published numeric, ours numeric, within numeric) RETURNS void LANGUAGE sql AS $$
	INSERT INTO lab.figures (lab, what, published, ours, grade, holds)
	VALUES (lab, what, published::text || ' +- ' || within, ours::text, 'close', coalesce(abs(published - ours) <= within, false))
$$;

CREATE FUNCTION lab.real(lab text, what text, published text, ours text, holds boolean) RETURNS void LANGUAGE sql AS $$
	INSERT INTO lab.figures (lab, what, published, ours, grade, holds)
	VALUES (lab, what, published, ours, 'real', coalesce(holds, false))
$$;
