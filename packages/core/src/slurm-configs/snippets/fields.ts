import { type SnippetFiles, snippetProblems } from '@muster/slurm/config'
import { z } from 'zod'
import { InvalidInput } from '../../kernel/errors.ts'
import { Ids, multilineText, singleLineText } from '../../kernel/input.ts'

const MAX_LENGTH = 100_000
const MAX_CLUSTERS = 500
const MAX_REGIONS = 100

export const SnippetName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, 'must be 1 to 63 letters, digits, dots, dashes or underscores')

/** Fields of a snippet that users set. */
export const SNIPPET_FIELDS = {
  /** Lines by file; an empty text is no lines. */
  files: z.strictObject({
    'slurm.conf': multilineText(MAX_LENGTH).optional(),
    'gres.conf': multilineText(MAX_LENGTH).optional(),
    'cgroup.conf': multilineText(MAX_LENGTH).optional(),
  }),
  clusterIds: Ids.refine((ids) => ids.length <= MAX_CLUSTERS, `at most ${MAX_CLUSTERS} clusters; name regions for more`),
  /** As the clusters name them. Clusters that are added to them later have the snippet, too. */
  regions: z
    .array(singleLineText(100))
    .max(MAX_REGIONS, `at most ${MAX_REGIONS} regions`)
    .transform((regions) => [...new Set(regions)].sort()),
  reason: singleLineText(200),
}

/** The lines as they are stored. @throws InvalidInput naming the file and the line */
export function snippetFilesOf(given: z.output<(typeof SNIPPET_FIELDS)['files']>): SnippetFiles {
  const files = Object.fromEntries(
    Object.entries(given).flatMap(([file, text]) => (text?.trim() ? [[file, text.endsWith('\n') ? text : `${text}\n`]] : [])),
  ) as SnippetFiles
  const problems = snippetProblems(files)
  if (problems.length > 0) throw new InvalidInput(problems.slice(0, 20))
  return files
}
