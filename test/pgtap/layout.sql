-- properties of layouts over real rows
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS shardkit;
BEGIN;
SET LOCAL search_path = shardkit, public;
SELECT plan(37);

CREATE TEMP TABLE keys AS SELECT i AS id, hashint8extended(i, 0) AS hash FROM generate_series(1, 100000) AS i;

-- monotone: from n to n + 1 nodes a key stays or goes to the new one; and back
CREATE TEMP TABLE strategies AS SELECT layout, layout_add(layout, 'node-9') AS more, CASE WHEN layout::text NOT LIKE 'jump%' THEN layout_remove(layout, 'node-4') END AS less
FROM unnest(ARRAY['ring(9; vnodes=128)', 'rendezvous(9)', 'jump(9)', 'slots(9; slots=480)']::layout[]) AS layout;
SELECT unnest(ARRAY[is(count(*) FILTER (WHERE new_owner NOT IN (old_owner, 'node-9')), 0::bigint, layout || ': growth moves keys to the new node only'),
	is(count(*) FILTER (WHERE old_owner <> new_owner), count(*) FILTER (WHERE new_owner = 'node-9'), layout || ': what moves is what the new node holds')])
FROM (SELECT layout, place(layout, hash) AS old_owner, place(more, hash) AS new_owner FROM strategies, keys) AS placed GROUP BY layout ORDER BY layout;
SELECT is(count(*) FILTER (WHERE old_owner NOT IN (new_owner, 'node-4')), 0::bigint, layout || ': a node that leaves moves its own keys only')
FROM (SELECT layout, place(layout, hash) AS old_owner, place(less, hash) AS new_owner FROM strategies, keys WHERE less IS NOT NULL) AS placed GROUP BY layout ORDER BY layout;

-- slots: as few as can be, and even again
SELECT is((SELECT count(*) FROM layout_nodes('slots(9; slots=480)') AS n, LATERAL (SELECT round(share * 480) AS owned) AS o WHERE owned NOT IN (53, 54)), 0::bigint, 'slots are dealt evenly');
SELECT is(round(layout_churn('slots(9; slots=480)', layout_add('slots(9; slots=480)', 'node-9')) * 480), 48::numeric::float8, 'slots 9 -> 10: exactly the newcomer''s share moves');

-- the order of names
SELECT unnest(ARRAY[is(count(*) FILTER (WHERE ring(hash, '{d,b,a,c}', 64) <> ring(hash, '{a,b,c,d}', 64)), 0::bigint, 'ring: the order of names does not matter'),
	is(count(*) FILTER (WHERE rendezvous(hash, '{d,b,a,c}') <> rendezvous(hash, '{a,b,c,d}')), 0::bigint, 'rendezvous: the order of names does not matter')])
FROM keys;

-- weights: within three standard errors of what tokens or weights say
SELECT is(count(*) FILTER (WHERE abs(held - share * 100000) > 3 * sqrt(share * (1 - share) * 100000)), 0::bigint, layout || ': weights give their shares')
FROM unnest(ARRAY['ring(a, b*2, c*0.5; vnodes=200)', 'rendezvous(a, b*2, c*0.5)', 'slots(a, b*2, c*0.5; slots=700)']::layout[]) AS layout, layout_nodes(layout),
	LATERAL (SELECT count(*) AS held FROM keys WHERE place(layout, hash) = node) AS counted GROUP BY layout ORDER BY layout;
SELECT is(count(*) FILTER (WHERE old_owner <> new_owner AND 'b' NOT IN (old_owner, new_owner)), 0::bigint, name || ': a changed weight moves keys into or out of that node only')
FROM (SELECT 'ring' AS name, place('ring(a, b*2, c*0.5; vnodes=200)', hash) AS old_owner, place('ring(a, b*3, c*0.5; vnodes=200)', hash) AS new_owner FROM keys
	UNION ALL SELECT 'rendezvous', rendezvous(hash, '{a,b,c}', '{1,2,0.5}'), rendezvous(hash, '{a,b,c}', '{1,1.5,0.5}') FROM keys) AS placed GROUP BY name ORDER BY name;

-- churn in closed form against a count of the rows, between every two kinds
CREATE TEMP TABLE changes (before layout, after layout);
INSERT INTO changes VALUES ('modulo(8)', 'modulo(9)'), ('jump(8)', 'jump(11)'), ('ring(8)', 'ring(9)'), ('ranges(8)', 'ring(8)'), ('rendezvous(a, b*2, c*3)', 'rendezvous(a*5, b*2, d)'),
	('slots(10; slots=60)', 'slots(7; slots=84)'), ('modulo(8)', 'jump(8)'), ('ring(8)', 'modulo(8)'), ('rendezvous(8)', 'ranges(8)'), ('jump(8)', 'slots(8)');
SELECT cmp_ok(abs(counted - churn), '<=', 3 * sqrt(churn * (1 - churn) / 100000), format('%s -> %s: churn as counted', before, after))
FROM changes, LATERAL (SELECT layout_churn(before, after) AS churn) AS closed, LATERAL (SELECT avg((place(before, hash) <> place(after, hash))::int)::float8 AS counted FROM keys) AS rows;

-- jump: the largest number of shards
SELECT is(count(*) FILTER (WHERE jump(hash, 2147483647) NOT BETWEEN 0 AND 2147483646), 0::bigint, 'jump: 2^31 - 1 shards') FROM keys;
-- a table's column, a constant and a parallel plan agree
SELECT is(count(*) FILTER (WHERE place(before, hash) <> place('ring(8)', hash)), 0::bigint, 'a column''s layout places as a constant does') FROM keys, changes WHERE before = 'ring(8)';

-- place as an operator of one's own
CREATE OPERATOR public.@@> (LEFTARG = layout, RIGHTARG = bigint, FUNCTION = place);
SELECT is(count(*) FILTER (WHERE 'ring(8)'::layout OPERATOR(public.@@>) hash <> place('ring(8)', hash)), 0::bigint, 'as an operator') FROM keys WHERE id <= 5000;

-- a hash that clusters its tokens: many lie between two entries of the ring's index
SET LOCAL client_min_messages = error;
CREATE FUNCTION pg_temp.unsigned(hash bigint) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN hash < 0 THEN hash + 18446744073709551616 ELSE hash END';
CREATE TEMP TABLE tokens AS SELECT 'node-' || n AS node, hash64('node-' || n || '#' || i, 'fnv1a') AS hash, pg_temp.unsigned(hash64('node-' || n || '#' || i, 'fnv1a')) AS token
	FROM generate_series(0, 7) AS n, generate_series(0, 255) AS i;
CREATE INDEX ON tokens (token);
ANALYZE tokens;
SELECT cmp_ok(max(n), '>', 8::bigint, 'the tokens cluster') FROM (SELECT count(*) AS n FROM tokens GROUP BY floor(token / 2 ^ 52::numeric)) AS c;
SELECT is(count(*) FILTER (WHERE place('ring(8; vnodes=256, token_hash=fnv1a)', h) <> owner), 0::bigint, 'clustered tokens own what lies before them')
FROM (SELECT hash + d AS h FROM tokens, generate_series(-1, 1) AS d) AS hashes, LATERAL (SELECT coalesce((SELECT node FROM tokens WHERE token >= pg_temp.unsigned(h) ORDER BY token, node LIMIT 1),
	(SELECT node FROM tokens ORDER BY token, node LIMIT 1)) AS owner) AS by_definition;

-- where the server asks softly, an answer instead of an error
CREATE FUNCTION pg_temp.is_layout(candidate text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	answer boolean;
BEGIN
	IF current_setting('server_version_num')::int >= 160000 THEN
		EXECUTE 'SELECT pg_input_is_valid($1, ''shardkit.layout'')' INTO answer USING candidate;
		RETURN answer;
	END IF;
	PERFORM candidate::shardkit.layout;
	RETURN true;
EXCEPTION WHEN invalid_text_representation THEN
	RETURN current_setting('server_version_num')::int >= 160000;
END $$;
SELECT is(pg_temp.is_layout('ring( 3 )'), true, 'a layout, asked softly');
SELECT is(pg_temp.is_layout(candidate), false, 'none, asked softly: ' || candidate) FROM (VALUES ('ring(0)')) AS c(candidate);

SELECT * FROM finish();
ROLLBACK;
