-- layouts that grow, split and shrink; shares and churn in closed form
CREATE EXTENSION shardkit;
SET search_path = shardkit, public;

SELECT layout_add(layout, 'node-3') FROM unnest(ARRAY['modulo(3)', 'jump(3)', 'ring(3)', 'rendezvous(3)', 'ranges(3)', 'slots(3; slots=12)']::layout[]) AS layout;
SELECT layout_add(layout, 'x', 2.5) FROM unnest(ARRAY['ring(3)', 'rendezvous(3)', 'slots(3; slots=11)']::layout[]) AS layout;
SELECT layout_split(layout, 'node-1', 'new') FROM unnest(ARRAY['ranges(4)', 'slots(4; slots=12)']::layout[]) AS layout;
SELECT layout_remove(layout, 'node-2') FROM unnest(ARRAY['modulo(3)', 'jump(3)', 'ring(3)', 'rendezvous(4)', 'ranges(4)', 'slots(4; slots=12)']::layout[]) AS layout;
SELECT layout_remove(layout_split('ranges(a, b)', 'a', 'c'), 'b');
-- there and back again
SELECT layout_remove(layout_add(layout, 'x'), 'x') = layout AS same
FROM unnest(ARRAY['modulo(3)', 'jump(3)', 'ring(a,b*2)', 'rendezvous(a,b*2)', 'ranges(3)']::layout[]) AS layout;

SELECT layout, node, weight, round(share::numeric, 12) AS share
FROM unnest(ARRAY['modulo(3)', 'jump(2)', 'ring(a; vnodes=1)', 'ring(a, b*2; vnodes=16)', 'rendezvous(a, b*2)', 'slots(a[0,2], b[1]; slots=3)',
	'ranges(2)', 'ranges(a@0000000000000000, b@4000000000000000)']::layout[]) WITH ORDINALITY AS l(layout, at), layout_nodes(layout) ORDER BY at, node;

-- closed forms that are known: 1 - gcd / max, 1 / (n + 1), 1/2, and nothing for the same rule
SELECT round(layout_churn(a, b)::numeric, 12) AS churn, a, b FROM (VALUES
	('modulo(8)'::layout, 'modulo(9)'::layout), ('modulo(8)', 'modulo(12)'), ('modulo(4)', 'modulo(8)'), ('jump(8)', 'jump(9)'), ('jump(9)', 'jump(8)'),
	('rendezvous(8)', 'rendezvous(9)'), ('rendezvous(a, b*2)', 'rendezvous(a, b*2, c)'), ('ranges(8)', 'ranges(9)'), ('ranges(5)', 'ranges(6)'),
	('ranges(8)', layout_split('ranges(8)', 'node-0', 'node-8')), ('slots(8; slots=72)', layout_add('slots(8; slots=72)', 'node-8')),
	('slots(8; slots=72)', 'modulo(8)'), ('ring(8)', 'modulo(8)'), ('jump(8)', 'ranges(8)'), ('modulo(3)', 'modulo(x, y, z)'),
	('ring(8)', 'ring(8)'), ('rendezvous(b, a)', 'rendezvous(a, b)'), ('rendezvous(a*2, b*2)', 'rendezvous(a, b)'), ('modulo(2)', 'slots(node-0[0], node-1[1]; slots=2)')) AS v(a, b);
-- what a ring's new node takes is all that moves
SELECT abs(layout_churn('ring(8)', 'ring(9)') - share) < 1e-15 AS same FROM layout_nodes('ring(9)') WHERE node = 'node-8';

-- errors
SELECT layout_add('ring(2)', 'node-1');
SELECT layout_add('ring(2)', '');
SELECT layout_add('modulo(2)', 'x', 2);
SELECT layout_add('ring(2)', 'x', 'NaN');
SELECT layout_add('ring(2; vnodes=4194304)', 'x');
SELECT layout_split('ring(2)', 'node-1', 'x');
SELECT layout_split('ranges(2)', 'node-2', 'x');
SELECT layout_split('ranges(2)', 'node-1', 'node-0');
SELECT layout_split('slots(2; slots=2)', 'node-1', 'x');
SELECT layout_split('ranges(a@0000000000000000, b@ffffffffffffffff)', 'b', 'x');
SELECT layout_remove('jump(3)', 'node-0');
SELECT layout_remove('modulo(3)', 'x');
SELECT layout_remove('ring(1)', 'node-0');
SELECT layout_add('modulo(65535)', 'x');
SELECT layout_add(NULL, 'x') IS NULL, layout_churn('ring(2)', NULL) IS NULL, (SELECT count(*) FROM layout_nodes(NULL));

-- the largest text is written in one pass: nobody could cancel it
SET statement_timeout = '15s';
SELECT length(layout_remove('slots(65535; slots=1048576)', 'node-5')::text);
RESET statement_timeout;

DROP EXTENSION shardkit;
