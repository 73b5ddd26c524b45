//! May we, should we: normalisation, scope, patterns, robots.txt, addresses; verdicts with reasons.
