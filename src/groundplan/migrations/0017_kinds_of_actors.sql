-- Whether a name is a person's, an agent's or a service's is stored when it first acts, and decides from then on.
REFUSE frozen AS principals_kind_is_final
BEFORE UPDATE ON principals
WHEN NEW.tenant_id <> OLD.tenant_id
  OR NEW.id <> OLD.id
  OR NEW.kind <> OLD.kind;

-- Who is no person is shown with the kind, wherever names are shown.
CREATE INDEX principals_of_other_kinds ON principals (tenant_id, id, kind) WHERE kind <> 'person';

-- only: sqlite
-- On PostgreSQL the app role has no right to delete these rows.
REFUSE frozen AS principals_are_never_deleted
BEFORE DELETE ON principals;
-- end

-- only: postgres
-- The kind of an actor, for the transaction that it is about to begin: until then no policy shows it a row.
CREATE FUNCTION gp_kind_of(tenant text, principal text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = groundplan, pg_temp
AS $$
    SELECT kind FROM principals WHERE tenant_id = tenant AND id = principal
$$;
-- end
