-- Parts that PostgreSQL spells differently.

-- part: lacks_words_in_title
-- Differs from SQLite, whose patterns may list characters: here the characters of the texts are folded.
lower(x.ref) <> :folded_text
                       AND NOT translate(lower(x.title COLLATE "C"), :uppers, :lowers)
                           LIKE ALL (ARRAY(SELECT value FROM each(:likes)))

-- part: has_words
-- Differs from SQLite for the same reason.
translate(lower((x.ref || ' ' || x.title || ' ' || x.text) COLLATE "C"), :uppers, :lowers)
                       LIKE ALL (ARRAY(SELECT value FROM each(:likes)))
