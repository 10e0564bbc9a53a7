-- The RPC of the contract of facts: a scope with its caller as the owner, and its first draft. It writes what the operation
-- member.bootstrap writes, with the rights of the caller, who says who they are as every transaction of the app role does
-- (groundplan.tenant, groundplan.actor, groundplan.kind, groundplan.access).
-- only: postgres
CREATE FUNCTION pciv_bootstrap_scope(INOUT scope_id text, create_draft_run boolean DEFAULT true, OUT run_id text)
    LANGUAGE plpgsql VOLATILE SET search_path = groundplan, pg_temp
AS $$
DECLARE
    caller text := gp_actor();
    caller_kind text;
    write_rev bigint;
    now_at text;
    given_policies text;
    new_id text;
    is_new_member boolean;
    created text;
BEGIN
    scope_id := regexp_replace(normalize(coalesce(scope_id, '')), '^\s+|\s+$', '', 'g');
    IF gp_tenant() IS NULL OR caller IS NULL THEN
        RAISE EXCEPTION 'pciv_auth_required' USING ERRCODE = '42501', HINT = 'set groundplan.tenant and groundplan.actor';
    ELSIF gp_actor_is_agent() AND NOT gp_access_is_open() THEN
        RAISE EXCEPTION 'agent_not_allowed: an agent creates a project only for a person who then owns it'
            USING ERRCODE = '42501';
    ELSIF scope_id = '' THEN
        RAISE EXCEPTION 'pciv_scope_id_required' USING ERRCODE = '22023';
    ELSIF length(scope_id) > 200 THEN
        RAISE EXCEPTION 'pciv_scope_id_too_long' USING ERRCODE = '22023';
    ELSIF scope_id ~ '[[:cntrl:]]' THEN
        RAISE EXCEPTION 'invalid_argument: the name of a scope is one line' USING ERRCODE = '22023';
    END IF;
    -- The lock of the organization: of two callers with one name the second waits, and then sees that it is taken.
    UPDATE organizations
       SET rev = rev + 1,
           updated_at = gp_write_time(updated_at, NULL)
     WHERE id = gp_tenant()
    RETURNING rev, updated_at INTO write_rev, now_at;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'pciv_auth_required' USING ERRCODE = '42501', HINT = 'the actor is not in the organization';
    END IF;
    given_policies := coalesce((SELECT default_policies FROM organization_settings WHERE tenant_id = gp_tenant()), '{}');
    WHILE new_id IS NULL LOOP  -- an id that is in use is not among the new ones
        new_id := (SELECT made.id FROM gp_new_work_ids(1, 6) AS made (id));
    END LOOP;
    INSERT INTO projects (tenant_id, id, name, rev, created_at, created_by, updated_at, policies)
    VALUES (gp_tenant(), new_id, scope_id, 1, now_at, caller, now_at, given_policies)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'pciv_scope_already_initialized' USING ERRCODE = '23505';
    END IF;

    -- The caller, and their membership.
    INSERT INTO principals (tenant_id, id, name, kind, created_at)
    SELECT gp_tenant(), caller, caller, coalesce(nullif(current_setting('groundplan.kind', true), ''), 'person'), now_at
     WHERE NOT EXISTS (SELECT 1 FROM principals AS p WHERE p.tenant_id = gp_tenant() AND p.id = caller);
    INSERT INTO user_memberships (tenant_id, user_id, created_at, created_by)
    SELECT gp_tenant(), caller, now_at, caller
     WHERE NOT EXISTS (SELECT 1 FROM user_memberships AS m WHERE m.tenant_id = gp_tenant() AND m.user_id = caller);
    is_new_member := FOUND;
    INSERT INTO project_members (tenant_id, project_id, user_id, role, created_at, created_by)
    VALUES (gp_tenant(), new_id, caller, 'owner', now_at, caller);

    -- The root of its work.
    LOOP
        INSERT INTO work_projects (tenant_id, project_id, number, last_n, total, resolved, blocked, actionable, features,
                                   tasks, tasks_closed, tasks_dropped, is_ordered)
        VALUES (gp_tenant(), new_id, 1 + floor(random() * 2147483646)::bigint, 1, 1, 0, 0, 0, 0, 0, 0, 0, true)
            ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
    END LOOP;
    INSERT INTO work_nodes (tenant_id, project_id, n, id, kind, rev, summary, resolved, properties, context_links,
                            created_at, created_by, updated_at, updated_by, changed_rev, priority, depth, open_children,
                            open_deps, blocked_above, claim_number, order_key)
    VALUES (gp_tenant(), new_id, 1, new_id, 'project', 1, scope_id, false, '{}', '[]', now_at, caller, now_at, caller, 1,
            '-Infinity', 0, 0, 0, 0, 0, '~');

    IF create_draft_run THEN
        run_id := gen_random_uuid()::text;
        INSERT INTO pciv_runs (tenant_id, project_id, id, user_id, status, allow_partial, created_at, created_by,
                               sole_writer, updated_at, rev)
        VALUES (gp_tenant(), new_id, run_id, caller, 'draft', false, now_at, caller, caller, now_at, 1);
    END IF;

    created := format('[{"field":"name","before":null,"after":%s},{"field":"goal","before":null,"after":null}]',
                      to_json(scope_id));
    INSERT INTO organization_events (tenant_id, rev, n, v, at, actor_id, op, subject, changes)
    VALUES (gp_tenant(), write_rev, 0, 1, now_at, caller, 'project.created', new_id, created);
    INSERT INTO events (tenant_id, project_id, rev, n, v, at, actor_id, op, subject, changes)
    SELECT gp_tenant(), new_id, 1, row_number() OVER (ORDER BY e.place) - 1, 1, now_at, caller, e.op, e.subject, e.changes
      FROM (VALUES (1, 'project.created', new_id, created),
                   (2, 'project.configured', new_id,
                    (SELECT '[' || string_agg(format('{"field":%s,"before":null,"after":%s}',
                                                     to_json('policies.' || p.key), p.value), ',') || ']'
                       FROM json_each(given_policies::json) AS p)),
                   (3, 'member.added', caller,
                    '[{"field":"role","before":null,"after":"owner"}'
                    || CASE WHEN is_new_member THEN ',{"field":"in_organization","before":false,"after":true}' ELSE '' END
                    || ']'),
                   (4, 'work.created', new_id,
                    format('[{"field":"summary","before":null,"after":%s}]', to_json(scope_id))),
                   (5, 'context.draft_created', run_id,
                    format('[{"field":"user_id","before":null,"after":%s}]', to_json(caller))))
        AS e (place, op, subject, changes)
     WHERE e.subject IS NOT NULL
       AND e.changes IS NOT NULL;
END
$$;
-- end
