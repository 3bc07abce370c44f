-- from a hash to a shard or a node
CREATE EXTENSION shardkit;

SELECT shardkit.modulo(-1, 9), shardkit.modulo(0, 1), shardkit.modulo(-1, 2147483647);
SELECT shardkit.modulo(1, 0);
SELECT shardkit.jump(1, -1);
SELECT shardkit.jump(NULL, 9), shardkit.ring(NULL, '{a}'), shardkit.rendezvous(1, NULL);

-- jump: vectors of the paper's own code; the last two are where look-alikes differ
SELECT count(*) AS vectors, count(*) FILTER (WHERE shardkit.jump(key::bigint, shards) = shard) AS same
FROM (VALUES
	(0, 100, 0),
	(1, 100, 55),
	(2, 100, 62),
	(3, 100, 8),
	(4, 100, 45),
	(5, 100, 59),
	(6, 100, 86),
	(7, 100, 97),
	(8, 100, 82),
	(9, 100, 59),
	(10, 100, 73),
	(11, 100, 37),
	(12, 100, 17),
	(13, 100, 56),
	(14, 100, 86),
	(15, 100, 21),
	(16, 100, 90),
	(17, 100, 37),
	(18, 100, 38),
	(19, 100, 83),
	(10863919174838991, 11, 6),
	(2016238256797177309, 11, 3),
	(2, 100001, 80343),
	(2201, 100001, 22152),
	(3735928559, 9, 5),
	(-1, 9, 7),
	(-9223372036854775808, 1000, 453),
	(1, 1, 0),
	(17068571456203592619::numeric - 18446744073709551616, 2, 1)
) AS v(key, shards, shard);

-- ring: vectors; the same by constants (compiled once), and as a layout
SELECT count(*) AS vectors,
	count(*) FILTER (WHERE shardkit.ring(hash, nodes, vnodes, algorithm) = owner) AS ring,
	count(*) FILTER (WHERE shardkit.place(format('ring(%s; vnodes=%s, token_hash=%s)',
		array_to_string(nodes, ','), vnodes, algorithm)::shardkit.layout, hash) = owner) AS place
FROM (VALUES
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 0, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 1, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -1, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -9223372036854775808, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 9223372036854775807, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 481793023217142206, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -7061646118247808500, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -5008948156487212724, 'node-2'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 6636988439302773776, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -8702672395760995981, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -8065772370852576328, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -2069478189688751123, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 9150457124218958689, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 2195022561970911407, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', 2195022561970911408, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -3502421137672960887, 'node-2'),
	('{node-0,node-1,node-2,node-3}'::text[], 1, 'sha256', -3502421137672960886, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 0, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 1, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -1, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -9223372036854775808, 'node-0'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 9223372036854775807, 'node-0'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 481793023217142206, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -7061646118247808500, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -5008948156487212724, 'node-3'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 6636988439302773776, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -8702672395760995981, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -8065772370852576328, 'node-2'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -2069478189688751123, 'node-0'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 9150457124218958689, 'node-0'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 62923630288030074, 'node-1'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', 62923630288030075, 'node-0'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -71143432673366243, 'node-0'),
	('{node-0,node-1,node-2,node-3}'::text[], 16, 'sha256', -71143432673366242, 'node-1'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 0, 'node-2'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 1, 'node-2'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -1, 'node-2'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -9223372036854775808, 'node-4'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 9223372036854775807, 'node-4'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 481793023217142206, 'node-4'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -7061646118247808500, 'node-4'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -5008948156487212724, 'node-3'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 6636988439302773776, 'node-4'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -8702672395760995981, 'node-3'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -8065772370852576328, 'node-1'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -2069478189688751123, 'node-1'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 9150457124218958689, 'node-3'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 51509330663321115, 'node-2'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', 51509330663321116, 'node-7'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -14734512863767264, 'node-5'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 128, 'sha256', -14734512863767263, 'node-2'),
	('{b,a,c}'::text[], 3, 'md5', 0, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 1, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -1, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -9223372036854775808, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 9223372036854775807, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 481793023217142206, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -7061646118247808500, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -5008948156487212724, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 6636988439302773776, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -8702672395760995981, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -8065772370852576328, 'c'),
	('{b,a,c}'::text[], 3, 'md5', -2069478189688751123, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 9150457124218958689, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 1003311043034782690, 'c'),
	('{b,a,c}'::text[], 3, 'md5', 1003311043034782691, 'b'),
	('{b,a,c}'::text[], 3, 'md5', -2865800618533611318, 'a'),
	('{b,a,c}'::text[], 3, 'md5', -2865800618533611317, 'c')
) AS v(nodes, vnodes, algorithm, hash, owner);

-- rendezvous: vectors; equal weights change nothing
SELECT count(*) AS vectors,
	count(*) FILTER (WHERE shardkit.rendezvous(hash, nodes) = owner) AS rendezvous,
	count(*) FILTER (WHERE shardkit.rendezvous(hash, nodes,
		array_fill(2.5::float8, ARRAY[cardinality(nodes)])) = owner) AS equal_weights,
	count(*) FILTER (WHERE shardkit.place(format('rendezvous(%s)',
		array_to_string(nodes, ','))::shardkit.layout, hash) = owner) AS place
FROM (VALUES
	('{node-0,node-1,node-2}'::text[], 0, 'node-1'),
	('{node-0,node-1,node-2}'::text[], 1, 'node-1'),
	('{node-0,node-1,node-2}'::text[], -1, 'node-2'),
	('{node-0,node-1,node-2}'::text[], -9223372036854775808, 'node-2'),
	('{node-0,node-1,node-2}'::text[], 481793023217142206, 'node-2'),
	('{node-0,node-1,node-2}'::text[], -7061646118247808500, 'node-1'),
	('{node-0,node-1,node-2}'::text[], -5008948156487212724, 'node-0'),
	('{node-0,node-1,node-2}'::text[], 6636988439302773776, 'node-1'),
	('{node-0,node-1,node-2}'::text[], -8702672395760995981, 'node-0'),
	('{node-0,node-1,node-2}'::text[], -8065772370852576328, 'node-1'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 0, 'node-4'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 1, 'node-3'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], -1, 'node-3'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], -9223372036854775808, 'node-6'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 481793023217142206, 'node-5'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], -7061646118247808500, 'node-8'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], -5008948156487212724, 'node-7'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], 6636988439302773776, 'node-1'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], -8702672395760995981, 'node-5'),
	('{node-0,node-1,node-2,node-3,node-4,node-5,node-6,node-7,node-8}'::text[], -8065772370852576328, 'node-7'),
	('{b,a,c}'::text[], 0, 'a'),
	('{b,a,c}'::text[], 1, 'a'),
	('{b,a,c}'::text[], -1, 'b'),
	('{b,a,c}'::text[], -9223372036854775808, 'b'),
	('{b,a,c}'::text[], 481793023217142206, 'b'),
	('{b,a,c}'::text[], -7061646118247808500, 'b'),
	('{b,a,c}'::text[], -5008948156487212724, 'a'),
	('{b,a,c}'::text[], 6636988439302773776, 'c'),
	('{b,a,c}'::text[], -8702672395760995981, 'a'),
	('{b,a,c}'::text[], -8065772370852576328, 'b')
) AS v(nodes, hash, owner);

-- the order of names never matters
SELECT count(*) FILTER (WHERE shardkit.ring(hash, '{c,a,b}') <> shardkit.ring(hash, '{b,c,a}')) AS ring,
	count(*) FILTER (WHERE shardkit.rendezvous(hash, '{c,a,b}') <> shardkit.rendezvous(hash, '{a,b,c}')) AS rendezvous,
	count(*) FILTER (WHERE shardkit.rendezvous(hash, '{c,a,b}', '{3,1,2}')
		<> shardkit.rendezvous(hash, '{a,b,c}', '{1,2,3}')) AS weighted
FROM generate_series(1, 1000) AS i, LATERAL (SELECT hashint8extended(i, 0) AS hash) AS h;

-- errors
SELECT shardkit.ring(1, '{}');
SELECT shardkit.ring(1, '{a,a}');
SELECT shardkit.ring(1, '{a,""}');
SELECT shardkit.ring(1, '{a,NULL}');
SELECT shardkit.ring(1, '{{a,b},{c,d}}');
SELECT shardkit.ring(1, '{a,b}', 0);
SELECT shardkit.ring(1, '{a,b}', 2147483647);
SELECT shardkit.ring(1, '{a,b}', 4194304);
SELECT shardkit.ring(1, '{a,b}', 16, 'crc32');
SELECT shardkit.ring(1, array_fill('a'::text, ARRAY[65536]));
SELECT shardkit.rendezvous(1, '{}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1,0}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1,-1}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1,NaN}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1,Infinity}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1,NULL}');
SELECT shardkit.rendezvous(1, '{a,b}', '{1,1e-10}');

-- fnv1a as a token hash works, with a warning; one, since constants are compiled once a statement
SELECT count(shardkit.ring(hash, '{a,b}', 16, 'fnv1a')) FROM generate_series(1, 1000) AS hash;

-- one call site, arguments that change from row to row, and in a loop of PL/pgSQL
SELECT count(*) FILTER (WHERE shardkit.ring(hash, nodes, vnodes) = shardkit.place(
	format('ring(%s; vnodes=%s)', array_to_string(nodes, ','), vnodes)::shardkit.layout, hash)) AS same
FROM generate_series(1, 200) AS i, LATERAL (SELECT hashint8extended(i, 0) AS hash,
	(SELECT array_agg('n' || j) FROM generate_series(1, 1 + i % 12) AS j) AS nodes, 1 + i % 3 AS vnodes) AS h;
DO $$
DECLARE
	layout shardkit.layout;
	owners text := '';
BEGIN
	FOR nodes IN 1 .. 5 LOOP
		layout := format('modulo(%s)', nodes);
		owners := owners || shardkit.place(layout, 4) || ' ' || shardkit.ring(4, ARRAY['n' || nodes]) || ' ';
	END LOOP;
	RAISE NOTICE '%', owners;
END $$;

-- what is answered never changes: digests of the owners of 2,000 hashes
SELECT layout::shardkit.layout AS layout, md5(string_agg(shardkit.place(layout::shardkit.layout, shardkit.hash64(i::text, 'sha256')), ',' ORDER BY i)) AS owners
FROM unnest(ARRAY['modulo(7)', 'jump(7)', 'ring(7)', 'ring(a, b*2.5, c*0.3; vnodes=40, token_hash=md5)', 'ring(3; vnodes=9, token_hash=sha1)', 'ring(3; vnodes=9, token_hash=blake2b)',
	'ring(3; vnodes=9, token_hash=xxh64)', 'ring(3; vnodes=9, token_hash=xxh3)', 'ring(3; vnodes=9, token_hash=murmur3)', 'rendezvous(7)', 'rendezvous(a, b*2.5, c*0.3)', 'slots(7)',
	'slots(a, b*2.5, c*0.3; slots=100)', 'slots(a[0-8,70], b[9-17], c[18-69,71]; slots=72)', 'ranges(7)', 'ranges(a@0000000000000000, b@4000000000000000, c@8000000000000000)']) WITH ORDINALITY AS l(layout, at),
	generate_series(1, 2000) AS i
GROUP BY layout, at ORDER BY at;

DROP EXTENSION shardkit;
