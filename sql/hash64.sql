-- hashes that other programs know: vectors made with other implementations
CREATE EXTENSION shardkit;
CREATE FUNCTION first8(digest bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	$$ SELECT ('x' || encode(substr(digest, 1, 8), 'hex'))::bit(64)::bigint $$;

SELECT algorithm, count(*) AS vectors,
	count(*) FILTER (WHERE shardkit.hash64(value, algorithm) = hash) AS as_text,
	count(*) FILTER (WHERE shardkit.hash64_bytea(convert_to(value, 'UTF8'), algorithm) = hash) AS as_bytes
FROM (VALUES
	('md5', '', -3162216497309240828),
	('md5', 'a', 919145239626757800),
	('md5', 'abc', -8070080442485551184),
	('md5', 'foo', -5999611798422882212),
	('md5', 'user-0', -5757273626488239608),
	('md5', 'user-99999', -4841373278444473544),
	('md5', 'node-0#0', 3484261750524530989),
	('md5', 'workspace 42', 6969140194597378264),
	('md5', 'Grüße', 5315925920581695414),
	('md5', 'key#7', -2975445382730054652),
	('md5', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', -5848658672859431739),
	('sha1', '', -2721964255587120371),
	('sha1', 'a', -8721251224300181508),
	('sha1', 'abc', -6225876607022235286),
	('sha1', 'foo', 859844163007352795),
	('sha1', 'user-0', 481793023217142206),
	('sha1', 'user-99999', 207172217336152283),
	('sha1', 'node-0#0', 8472445936761618833),
	('sha1', 'workspace 42', 7272397180123799327),
	('sha1', 'Grüße', -699899497817590673),
	('sha1', 'key#7', 1505977591903745337),
	('sha1', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 5828928304966828532),
	('sha256', '', -2039914840885289964),
	('sha256', 'a', -3848465438864589366),
	('sha256', 'abc', -5010229573455851542),
	('sha256', 'foo', 3181428560199927439),
	('sha256', 'user-0', 9200126492737120567),
	('sha256', 'user-99999', 569561583599051896),
	('sha256', 'node-0#0', -5301949921978869909),
	('sha256', 'workspace 42', -6696837160401770126),
	('sha256', 'Grüße', -559005354142841542),
	('sha256', 'key#7', -3562896112779945828),
	('sha256', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 715147564646461383),
	('blake2b', '', -1970711489451281740),
	('blake2b', 'a', 4681665781835383343),
	('blake2b', 'abc', -2829645022057097895),
	('blake2b', 'foo', 8359717351044633339),
	('blake2b', 'user-0', 3162500440625161073),
	('blake2b', 'user-99999', 6685647843057077618),
	('blake2b', 'node-0#0', 2570880372869944537),
	('blake2b', 'workspace 42', -6728697615250345521),
	('blake2b', 'Grüße', 480575330471420818),
	('blake2b', 'key#7', 9120264992125280797),
	('blake2b', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', -7298049624064179679),
	('fnv1a', '', -3750763034362895579),
	('fnv1a', 'a', -5808556873153909620),
	('fnv1a', 'abc', -1792535898324117685),
	('fnv1a', 'foo', -2543842089295555209),
	('fnv1a', 'user-0', -555170176542552697),
	('fnv1a', 'user-99999', -4992460044679694376),
	('fnv1a', 'node-0#0', 88497298459745787),
	('fnv1a', 'workspace 42', 5849704693672854064),
	('fnv1a', 'Grüße', 2370914383194009784),
	('fnv1a', 'key#7', 8161346001393346430),
	('fnv1a', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 372847128541728821)
) AS v(algorithm, value, hash)
GROUP BY algorithm ORDER BY algorithm;

-- xxh64 and xxh3 as xxhsum answers them; murmur3 by a second implementation
SELECT count(*) AS vectors, count(*) FILTER (WHERE shardkit.hash64(value, 'xxh64') = xxh64) AS xxh64,
	count(*) FILTER (WHERE shardkit.hash64(value, 'xxh3') = xxh3) AS xxh3,
	count(*) FILTER (WHERE shardkit.hash64(value, 'murmur3') = murmur3) AS murmur3
FROM (VALUES
	('', -1205034819632174695, 3244421341483603138, 0),
	('a', -3292477735350538661, -1817709641818812897, -8839064797231613815),
	('abc', 4952883123889572249, 8696274497037089104, -5434086359492102041),
	('foo', 3728699739546630719, -6093828362558603894, -2129773440516405919),
	('workspace 42', -768013012595406342, 4977722174776653169, 7216995812723627636),
	('Grüße', 2996662272629394261, -5472973187305334824, -4016299322595232714),
	('0123456', -7498968486153073158, -6598320035646786433, 1435416519508424614),
	('01234567', -1965220197025931969, 1731884802940073542, -9064053233843489459),
	('012345678', 4894508053845540128, 4274641511907055575, 5484970180828674234),
	('0123456789abcde', 5455295319615892045, 1998023949494774479, -6472281833689111727),
	('0123456789abcdef', 6655072042875317515, 7224786756799439149, 5467490433528156583),
	('0123456789abcdefg', -9207910219868662523, -3249840995370574798, -8200385122730116642),
	('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', -7858536869340659564, -3960488162797498814, 289608075098811106)
) AS v(value, xxh64, xxh3, murmur3);

-- the server's own digests agree on random bytes of 0 to 300 bytes
SELECT count(*) FILTER (WHERE shardkit.hash64_bytea(bytes, 'sha256') <> first8(sha256(bytes))) AS sha256,
	count(*) FILTER (WHERE shardkit.hash64_bytea(bytes, 'md5') <> first8(decode(md5(bytes), 'hex'))) AS md5
FROM (SELECT substr(decode(string_agg(md5(i::text || ':' || j::text), ''), 'hex'), 1, i) AS bytes
	FROM generate_series(0, 300) AS i, generate_series(0, 19) AS j GROUP BY i) AS strings;

SELECT shardkit.hash64(NULL, 'md5'), shardkit.hash64('a', NULL), shardkit.hash64_bytea(NULL, 'md5');
SELECT shardkit.hash64('a', 'crc32');
SELECT shardkit.hash64('a', '');

-- digests go on after an error and after a rollback
BEGIN;
SELECT shardkit.hash64('abc', 'sha1') = -6225876607022235286 AS same;
ROLLBACK;
SELECT shardkit.hash64('abc', 'sha1') = -6225876607022235286 AS same;

-- Valkey: published vectors, and what a hash tag is
SELECT count(*) AS vectors, count(*) FILTER (WHERE shardkit.valkey_slot(key) = slot) AS same
FROM (VALUES
	('', 0),
	('foo', 12182),
	('bar', 5061),
	('hello', 866),
	('123456789', 12739),
	('{user1000}.following', 3443),
	('{user1000}.followers', 3443),
	('foo{}{bar}', 8363),
	('foo{{bar}}zap', 4015),
	('foo{bar}{zap}', 5061),
	('{', 4092),
	('}{', 12793),
	('user-42', 14587)
) AS v(key, slot);
SELECT shardkit.valkey_slot('{user1000}.a') = shardkit.valkey_slot('user1000') AS tag,
	shardkit.valkey_slot('a{}{b}') = shardkit.valkey_slot('b') AS empty_tag_is_one,
	shardkit.valkey_slot('a}{b}') = shardkit.valkey_slot('b') AS first_close_after_open,
	shardkit.valkey_slot(NULL) IS NULL AS null_stays;

DROP FUNCTION first8;
DROP EXTENSION shardkit;
