-- Format 8. Records of several pages are compressed together: offset, length and checksum are those of
-- the frame, and a record begins at this byte of what the frame holds.

ALTER TABLE results ADD COLUMN body_within INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contents ADD COLUMN within INTEGER NOT NULL DEFAULT 0;
