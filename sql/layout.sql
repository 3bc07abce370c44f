-- layouts: a whole placement rule as a value
CREATE EXTENSION shardkit;

-- text in, canonical text out
SELECT t::shardkit.layout FROM unnest(ARRAY['modulo(8)', ' jump ( 9 ) ', 'ring(8; vnodes=256)', 'ring(8)',
	'ring(a, b*2, c; vnodes=128, token_hash=sha1)', 'ring(c,a,b*1.0;token_hash=sha256)',
	'rendezvous(a, b*1.5, c)', 'rendezvous(node-2,node-0,node-1)', 'slots(8; slots=1024)', 'slots(3)',
	'slots(a[0-8,70], b[9-17], c[18-69,71]; slots=72)', 'slots(a[0-1],b[2-3];slots=4)',
	'slots(a[3,2,1,0], b[]; slots=4)', 'slots(a, b*2.50; slots=9)', 'ranges(8)', 'ranges(a,b)',
	'ranges(a@0000000000000000, b@8000000000000000)', 'ranges(a@0000000000000000, b@4000000000000000)',
	'modulo("a, b", "say ""hi""", "8", "[x]*2", Grüße, db.example:5432)', 'modulo("plain")',
	'rendezvous(a*0.000000001, b*100000)']) AS t;

-- the canonical text reads back as itself
SELECT count(*) AS layouts, count(*) FILTER (WHERE l::text::shardkit.layout::text = l::text) AS same
FROM (SELECT format(s, n)::shardkit.layout AS l FROM generate_series(1, 20) AS n, unnest(ARRAY['modulo(%s)', 'jump(%s)',
	'ring(%s)', 'rendezvous(%s)', 'slots(%s; slots=60)', 'ranges(%s)', 'slots("%s", b*0.1; slots=7)']) AS s) AS made;
-- also where a node has no slot left to own
SELECT l AS layout, l::text::shardkit.layout::text = l::text AS same
FROM (SELECT shardkit.layout_add('slots(1; slots=1)', 'node-1') UNION ALL SELECT 'slots(a[0], b[1], c[]; slots=2)') AS made(l);

-- errors point at the place
DO $$
DECLARE
	bad text;
	detail text;
BEGIN
	FOREACH bad IN ARRAY ARRAY['', 'modulo', 'mod(8)', 'modulo(', 'modulo()', 'modulo(0)', 'modulo(-1)', 'modulo(65536)',
		'modulo(99999999999999999999)', 'modulo(8) x', 'modulo(8', 'modulo(8; vnodes=3)', 'modulo(a, 8)', 'modulo(a, a)', 'modulo(a, "")',
		'modulo(a*2)', 'jump(a,,b)', 'jump("a)', 'ring(a*0)', 'ring(a*-1)', 'ring(a*NaN)', 'ring(a*1e3)', 'ring(a*)', 'ring(a*1.)',
		'ring(a*0.0000000001)', 'ring(a*100001)', 'ring(a; vnodes=0)', 'ring(a; vnodes=1, vnodes=2)', 'ring(a; token_hash=crc)',
		'ring(8; vnodes=4194304)', 'ring(a;)', 'ring(a; vnodes 3)', 'ring(a[0])', 'slots(9; slots=8)', 'slots(8; slots=0)', 'slots(8; slots=1048577)',
		'slots(a[0-3], b; slots=4)', 'slots(a[0-3], b[3]; slots=4)', 'slots(a[0-2], b[]; slots=4)', 'slots(a[0-4]; slots=4)', 'slots(a[3-0]; slots=4)', 'slots(a[0-9999999]; slots=4)',
		'slots(a[0; slots=4)', 'slots(a[x]; slots=4)', 'ranges(a@0, b)', 'ranges(a@0000000000000001)', 'ranges(a@0000000000000000, b@0000000000000000)',
		'ranges(a*2)', 'Grüße(', 'modulo(é, ü, é)', repeat('(', 100000),
		'ring(a; token_hash=md5, token_hash=sha1)', 'ring(a; token_hash=md5, vnodes=2, token_hash=md5)', (SELECT format('jump(%s)', string_agg('n' || i, ',' ORDER BY i)) FROM generate_series(1, 65536) AS i)]
	LOOP
		BEGIN
			PERFORM bad::shardkit.layout;
			RAISE NOTICE '% was taken', bad;
		EXCEPTION WHEN invalid_text_representation THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			RAISE NOTICE '%: % / %', left(bad, 50), SQLERRM, detail;
		END;
	END LOOP;
END $$;

SET search_path = shardkit, public;
-- a column, a composite, an array, a domain; grouped, ordered, joined, indexed, partitioned by
CREATE TABLE layouts (id int, layout shardkit.layout);
CREATE TYPE pair AS (name text, layout shardkit.layout);
CREATE DOMAIN ringed AS shardkit.layout CHECK (VALUE::text LIKE 'ring%');
INSERT INTO layouts SELECT i, format('modulo(%s)', 1 + i % 3)::shardkit.layout FROM generate_series(1, 9) AS i;
SELECT layout, count(*) FROM layouts GROUP BY layout ORDER BY layout DESC;
SELECT count(*) FROM layouts AS a JOIN layouts AS b USING (layout);
SELECT min(layout::text), count(DISTINCT layout) FROM layouts;
CREATE INDEX ON layouts (layout);
CREATE INDEX ON layouts USING hash (layout);
SELECT ('x', 'jump( 3)')::pair, ARRAY['ring(2)']::shardkit.layout[];
SELECT 'jump(3)'::ringed;
SELECT 'ring(b,a)'::shardkit.layout = 'ring(a,b)' AS ring, 'modulo(b,a)'::shardkit.layout = 'modulo(a,b)' AS modulo,
	'ring(2)'::shardkit.layout <> 'ring(3)' AS differs, 'jump(2)'::shardkit.layout < 'modulo(2)' AS less;
-- every operator, against the order of the texts, bytes by bytes; both hashes of equal ones
SELECT count(*) AS pairs, bool_and((a < b) = (x < y) AND (a <= b) = (x <= y) AND (a > b) = (x > y) AND (a >= b) = (x >= y)
	AND (a = b) = (x = y) AND (a <> b) = (x <> y)) AS as_texts
FROM (SELECT t::shardkit.layout, t::shardkit.layout::text COLLATE "C" FROM unnest(ARRAY['jump(2)', 'jump(20)', 'modulo(a)', 'modulo(é)', 'ring(b,a)', 'ring(a,b)']) AS t) AS one(a, x),
	(SELECT t::shardkit.layout, t::shardkit.layout::text COLLATE "C" FROM unnest(ARRAY['jump(2)', 'jump(20)', 'modulo(a)', 'modulo(é)', 'ring(b,a)', 'modulo("A")']) AS t) AS other(b, y);
CREATE TABLE by_layout (layout shardkit.layout, id int) PARTITION BY HASH (layout);
CREATE TABLE by_layout_0 PARTITION OF by_layout FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_layout_1 PARTITION OF by_layout FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_layout SELECT format('ring(%s)', i)::shardkit.layout, i FROM generate_series(1, 40) AS i;
INSERT INTO by_layout VALUES ('ring(b, a)', 41), ('ring(a,b; vnodes=100)', 42), ('ring(a,b)', 43);
SELECT count(*) AS rows, count(DISTINCT tableoid) AS partitions, count(*) FILTER (WHERE tableoid = shardkit.partition_of('by_layout', layout)) AS right_there,
	count(*) FILTER (WHERE shardkit.partition_hash(layout) = shardkit.partition_hash(layout::text)) AS hashed_as_text FROM by_layout;
SELECT id FROM by_layout WHERE layout = 'ring( a, b )' ORDER BY id;
DROP TABLE by_layout;

-- a layout from a table's column, alternating from row to row, more than a call site keeps
TRUNCATE layouts;
INSERT INTO layouts SELECT i, format('modulo(%s)', i)::shardkit.layout FROM generate_series(1, 600) AS i;
SELECT count(*) AS rows, count(*) FILTER (WHERE shardkit.place(layout, hash) = 'node-' || shardkit.modulo(hash, id)) AS right
FROM generate_series(1, 50) AS hash, layouts;

-- what places, by name
SELECT string_agg(shardkit.place('modulo(a,b,c)', h), '' ORDER BY h) AS modulo, string_agg(shardkit.place('slots(a[0,3],b[1],c[2];slots=4)', h), '' ORDER BY h) AS slots
FROM generate_series(0, 7) AS h;
SELECT shardkit.place('ranges(4)', 0), shardkit.place('ranges(4)', 4611686018427387903), shardkit.place('ranges(4)', 4611686018427387904),
	shardkit.place('ranges(4)', -1), shardkit.place('ranges(3)', 6148914691236517205), shardkit.place('ranges(3)', 6148914691236517206);
SELECT shardkit.place('ranges(a@0000000000000000, b@4000000000000000)', 4611686018427387903),
	shardkit.place('ranges(a@0000000000000000, b@4000000000000000)', 4611686018427387904), shardkit.place('ranges(a@0000000000000000, b@4000000000000000)', -1);
SELECT shardkit.place(NULL, 1), shardkit.place('modulo(2)', NULL);

-- a weighted ring has max(1, round(vnodes * weight)) tokens a node; the text warns of fnv1a
SELECT 'ring(a,b;token_hash=fnv1a)'::shardkit.layout;

DROP TABLE layouts;
DROP TYPE pair;
DROP DOMAIN ringed;
DROP EXTENSION shardkit;
