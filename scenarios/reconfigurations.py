"""Makes reconfigurations.csv: a minute over a satellite in a low orbit, as LENS records it with irtt.

    python3 scenarios/reconfigurations.py > scenarios/reconfigurations.csv

No measurement: the numbers are made. A probe every 50 ms. Every 15 s (at 12, 27, 42 and 57 s past the minute, as
Starlink does) another satellite brings another round-trip time, and the first two probes after it are lost on the way
down. Within such a slot the round-trip time drifts as the satellite moves, and jitters by up to 6 ms; one probe in 250
is lost on the way up.
"""

BASE_MS = [41.0, 58.0, 47.0, 66.0, 52.0]
DRIFT_MS = [4.0, -3.0, 5.0, -6.0, 3.0]
STEP_MS = 50
START_NS = 1_705_744_800_000_000_000

state = 1
rows = ["timestamp,rtt,uplink,downlink"]
for ms in range(0, 60_000, STEP_MS):
    # A linear congruential generator (Knuth's MMIX), so that the file is the same on every machine.
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    draw = (state >> 33) / 2**31
    slot, since = divmod(ms + 3_000, 15_000)
    time = START_NS + ms * 1_000_000
    if slot > 0 and since < 2 * STEP_MS:
        rows.append(f"{time},0,0,-1")
    elif draw < 0.004:
        rows.append(f"{time},0,-1,0")
    else:
        rtt = BASE_MS[slot] + DRIFT_MS[slot] * since / 15_000 + 6 * draw * draw
        rows.append(f"{time},{rtt:.3f},{rtt * 0.6:.3f},{rtt * 0.4:.3f}")
print("\n".join(rows))
