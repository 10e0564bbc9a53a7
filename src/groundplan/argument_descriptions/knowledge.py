"""Arguments of knowledge about files."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "entityType": "An atom (an area, by its paths) or a molecule (a group of atoms).",
    "id": "The atom or molecule, by its UUID, with or without dashes.",
    **{f"knowledge.{verb}/projectId": "The project that it must belong to, as a check." for verb in ("get", "delete")},
    "knowledge.update/projectId": "The project that it must belong to, as a check. It cannot change.",
    "name": "The name; lists are sorted by it.",
    "createdByTaskId": "The task that this is recorded for: a work node of the project.",
    "lastTaskId": "The task that this is done for: a work node of the project. Required to append; without it: "
    "unchanged.",
    "knowledge.delete/lastTaskId": "The task that this is done for; atoms that lose their molecule get it too.",
    "paths": "Patterns of the files it covers, such as `src/pay/**`, relative to the root of the repository; at least "
    "one.",
    "knowledge.context/paths": "The files and folders, as paths from the root of the repository or absolute: a list, "
    "or separated by commas or line breaks. A folder stands for everything below it. At most 1,000 paths of 4,096 "
    "characters each, and 65,536 characters in total.",
    "knowledge": "The knowledge text; at most 32,768 bytes. Surrounding white space is removed.",
    "knowledgeMode": "Replace the existing text, or append to it below a line with the time and the task.",
    "moleculeId": "The molecule of the atom, by id.",
    "knowledge.update/moleculeId": "The molecule of the atom, by id; null for none.",
    "knowledge.search/moleculeId": "Only atoms of this molecule, by id.",
    "relatedAtoms": "Related atoms of the project, each with the reason.",
    "relatedAtoms[].atomId": "The related atom, by id.",
    "relatedAtoms[].reason": "How they are related.",
    "relatedMolecules": "Related molecules of the project, each with the reason.",
    "relatedMolecules[].moleculeId": "The related molecule, by id.",
    "relatedMolecules[].reason": "How they are related.",
    "confirm": "The commit at which the knowledge was confirmed.",
    "cascade": "Also delete the atoms of a molecule; otherwise they stay without a molecule.",
    "includeChangelog": "Include the latest changelog entries.",
    "changelogLimit": "Maximum number of changelog entries.",
    "query": "Words to search for in the name and the knowledge; all must match, in any order. A prefix of a word "
    "matches.",
    "orphansOnly": "Only atoms without a molecule.",
    "parentType": "Whether the changelog is that of an atom or of a molecule.",
    "parentId": "The atom or molecule, by its UUID, with or without dashes.",
    "taskId": "The task that changed it: a work node of the project.",
    "summary": "What changed and why; at most 4,096 bytes.",
    "commit": "The commit that was checked.",
    "files": "Files of that commit, relative to the root of the repository. They are kept beside those that earlier "
    "requests named for the same commit, at most 20,000; a larger repository sends every n-th.",
    "filesTotal": "The number of files of that commit, also of those that are not sent.",
    "knowledge.match/paths": "Patterns of files, such as `src/pay/**`, relative to the root of the repository.",
    "folder": "The folder to look into, relative to the root of the repository. Default: the root.",
    "knowledge.delete/decision": "Why it is deleted; kept in the history.",
    "atoms": "The results, one for each atom.",
    "atoms[].id": "The atom, by id.",
    "atoms[].version": "The version that was checked; an atom that has changed since is skipped.",
    "atoms[].freshness": "The result of the check.",
    "atoms[].commit": "The commit at which the atom was confirmed.",
    "atoms[].files": "The files of its area that have changed since.",
}
