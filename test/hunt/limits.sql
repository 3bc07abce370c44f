ALTER DATABASE hunt SET statement_timeout = '3s';
ALTER DATABASE hunt SET lock_timeout = '1s';
