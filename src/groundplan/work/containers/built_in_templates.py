"""The templates of Groundplan itself. They are the same in every organization and cannot be changed."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.work.containers.fields import EntityType
from groundplan.work.containers.sections.section import ContentFormat
from groundplan.work.containers.templates import Template, TemplateSection

AUTHOR = "groundplan"


def _make_section(id_: str, title: str, usage: str, sample: str, *, is_required: bool = True) -> TemplateSection:
    return TemplateSection(
        id=id_,
        ordinal=0,  # set by _template
        title=title,
        usage_description=usage,
        content_sample=sample,
        content_format=ContentFormat.MARKDOWN,
        is_required=is_required,
        tags=[],
    )


def _make_template(
    id_: str, name: str, description: str, target: EntityType, tags: list[str], *sections: TemplateSection
) -> Template:
    for ordinal, section in enumerate(sections):
        section.ordinal = ordinal
    return Template(
        id=id_,
        name=name,
        description=description,
        target_entity_type=target,
        tags=tags,
        is_built_in=True,
        is_protected=True,
        is_enabled=True,
        created_by=AUTHOR,
        sections=list(sections),
    )


TASK = _make_template(
    "5f0c1b8e-6c1d-4a35-9e0b-2f6f8f3a7d10",
    "Task to implement",
    "What is needed to do a task and to check that it is done.",
    EntityType.TASK,
    ["implementation"],
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c201",
        "Requirements",
        "Read first. What must be true when the task is done.",
        "- The result, as somebody who uses it would say it\n- What must not change\n- Limits: time, size, versions\n",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c202",
        "Context Files",
        "The files to read or to change, one path on each line; what is known of them is looked up by these paths.",
        "- src/area/module.py\n- tests/area/test_module.py\n",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c203",
        "Implementation Plan",
        "The steps in their order. Change it when the work shows that it is wrong.",
        "1. A test that fails for want of the change\n2. The change\n3. What has to follow: documentation, migration\n",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c204",
        "Verification",
        "How to see that it is done: commands to run, and what they say then.",
        "- [ ] Each requirement has a test that would fail without it\n- [ ] The checks of the project pass\n",
    ),
)

BUG = _make_template(
    "5f0c1b8e-6c1d-4a35-9e0b-2f6f8f3a7d11",
    "Bug to fix",
    "From what somebody saw to a test that keeps it from coming back.",
    EntityType.TASK,
    ["bug"],
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c211",
        "Observed and Expected",
        "What happens, what should happen, and how to make it happen.",
        "Steps:\n1. …\n\nExpected: …\nObserved: …\n",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c212",
        "Context Files",
        "The files that have to do with it, one path on each line; what is known of them is looked up by these paths.",
        "- src/area/module.py\n",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c213",
        "Cause",
        "Why it happens, once it is found: the place, and the wrong belief behind it.",
        "",
        is_required=False,
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c214",
        "Verification",
        "The test that failed before and passes now, and where else the same mistake could be.",
        "- [ ] A test fails without the fix\n- [ ] Other places with the same cause were looked at\n",
    ),
)

FEATURE = _make_template(
    "5f0c1b8e-6c1d-4a35-9e0b-2f6f8f3a7d12",
    "Feature to plan",
    "What a feature is for and where it ends, before it is cut into tasks.",
    EntityType.FEATURE,
    ["planning"],
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c221",
        "Goal",
        "Who can do what afterwards that they cannot do now, and why that matters.",
        "",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c222",
        "Scope",
        "What belongs to it, and what does not although one might think so.",
        "In:\n- …\n\nOut:\n- …\n",
    ),
    _make_section(
        "0b8e8f3c-4f47-4d7c-8a0e-51d0f8a1c223",
        "Acceptance",
        "What is tried when all tasks are done, and how one sees that it holds.",
        "- [ ] Given …, when …, then …\n",
    ),
)

BUILT_IN: Mapping[str, Template] = {template.id: template for template in (TASK, BUG, FEATURE)}
