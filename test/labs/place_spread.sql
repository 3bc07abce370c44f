-- 20,000 rings of 4 nodes: the busiest node's part of the circle over the mean
-- Errors: of the median and the 99th percentile what two samples of 20,000 differ by; of the worst, what one extreme draw does.
SELECT lab.close('C5', format('%s tokens: typical', vnodes), typical, round(p50::numeric, 2), within),
	lab.close('C5', format('%s tokens: 99th percentile', vnodes), percentile, round(p99::numeric, 2), 3 * within),
	lab.close('C5', format('%s tokens: worst', vnodes), most, round(worst::numeric, 2), rare)
FROM (VALUES (1, 2.0, 3.45, 3.96, 0.02, 0.1), (16, 1.25, 1.67, 1.95, 0.01, 0.3), (256, 1.06, 1.16, 1.23, 0.005, 0.05)) AS v(vnodes, typical, percentile, most, within, rare),
	ring_spread(4, vnodes, 20000);
CREATE TEMP TABLE timed AS SELECT clock_timestamp() AS started;
SELECT count(ring_spread(4, 256, 20000));
SELECT lab.real('C5', '20,000 rings of 4 x 256, seconds', 'at most 10', round(extract(epoch FROM clock_timestamp() - started), 2)::text, clock_timestamp() - started < '10 s') FROM timed;
