-- complain if the script is sourced in psql rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION shardkit" to load this file. \quit

-- What users call lies in shardkit, what its functions call in shardkit_internal: those run as the
-- caller, so that everybody must reach both. Who may do what is checked by each function.
CREATE SCHEMA shardkit_internal;
COMMENT ON SCHEMA shardkit_internal IS 'parts of the extension shardkit, not to be called: they change without notice';
GRANT USAGE ON SCHEMA shardkit, shardkit_internal TO PUBLIC;
