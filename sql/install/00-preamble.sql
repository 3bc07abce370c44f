-- complain if the script is sourced in psql rather than by CREATE EXTENSION
\echo Use "CREATE EXTENSION shardkit" to load this file. \quit

-- Whoever routes reads; who may do more is checked by each function.
GRANT USAGE ON SCHEMA shardkit TO PUBLIC;
