-- part: description
-- Differs from SQLite in the JSON functions.
CASE WHEN json_typeof(c.properties::json -> 'description') = 'string' THEN c.properties::json ->> 'description' END

-- part: own_summary
-- Differs from SQLite in the JSON functions.
CASE WHEN json_typeof(c.properties::json -> 'summary') = 'string' THEN c.properties::json ->> 'summary' END

-- part: contains_words
-- Differs from SQLite in the JSON functions. The collation "C" limits lower() to ASCII letters.
NOT EXISTS (
            SELECT 1
              FROM each(:words) AS word
             WHERE strpos(
                lower((c.summary || ' ' || coalesce({own_summary}, '') || ' '
                       || coalesce({description}, '')) COLLATE "C"),
                word.value
             ) = 0
        )
