import type { Command, Output } from '../../command.ts'
import { EXIT } from '../../errors.ts'
import type { ResultOf } from '../../graphql.ts'
import { graphql } from '../../graphql.ts'
import { count, isTable, printObject, write } from '../../output.ts'

export const PLAN = graphql(`fragment Plan on ManifestPlan @_unmask {
  owner isApplied fingerprint createCount updateCount deleteCount unchangedCount nodes nodeCount changeCount conflictCount issueCount warnings
  changes { action kind names count fields { path before after } }
  impact { kind count nodes }
  conflicts { kind name path owner message }
  issues { file document line column path message allowed }
}`)
export type Plan = ResultOf<typeof PLAN>

export type ManifestOptions = Output & { file: string[]; owner?: string; prune?: true; forceConflicts?: true }

/** Adds the options that \`apply\` and \`diff\` share. */
export const withManifests = (command: Command): Command =>
  command
    .requiredOption('-f, --file <file...>', 'files or folders with YAML, JSON or Pkl; - reads standard input')
    .option('--owner <name>', 'name under which the fields are owned; default: default')
    .option('--prune', 'delete objects that this owner applied earlier and that are not in the files; needs --owner')
    .option('--force-conflicts', 'take over fields that another owner or a person set')
    .withOutput('output format: table, wide, name (names of changed objects), json or yaml')

const SIGNS = { CREATE: '+', UPDATE: '~', DELETE: '-' } as const
const IMPACTS: Record<Plan['impact'][number]['kind'], (n: number) => string> = {
  REBOOT: (n) => `${count(n, 'node')} boot something else from the next boot; reboot them`,
  HOST_KEY: (n) => `${count(n, 'node')} move: test the connection and approve the host key again`,
  VARIABLES: (n) => `runs on ${count(n, 'node')} get other variables`,
  ACCELERATORS: (n) => `${count(n, 'accelerator')} leave with the nodes`,
  SLURM_JOBS: (n) => `${count(n, 'running Slurm job')} on the nodes that leave, move or reboot`,
}

/** One change as lines: the objects, then each field. */
const linesOf = ({ action, kind, names, count: objects, fields }: Plan['changes'][number]): string[] => [
  `${SIGNS[action]} ${kind} ${names}${objects > 1 ? ` (${objects})` : ''}`,
  ...(action === 'DELETE'
    ? []
    : fields.map(({ path, before, after }) => `    ${path}: ${before === null ? '' : `${before} -> `}${after ?? '(default)'}`)),
]

/** `cluster.yaml:7:9: spec.port: must be at most 65535` */
const issueLine = ({ file, line, column, path, message, allowed }: Plan['issues'][number]): string => {
  const place = line > 0 ? `${file}:${line}:${column}: ` : ''
  const values = allowed.length > 0 && allowed.length <= 30 ? `. Allowed: ${allowed.join(', ')}` : ''
  return `${place}${path === '' ? '' : `${path}: `}${message}${values}`
}

/** Prints a plan, and sets the exit code when it cannot be applied. */
export async function printPlan(plan: Plan, options: Output): Promise<void> {
  const { changes, changeCount, impact, conflicts, conflictCount, issues, issueCount, warnings } = plan
  if (!isTable(options) && options.output !== 'name') printObject(plan, options)
  else if (options.output === 'name') await write(changes.map(({ kind, names }) => `${kind}/${names}\n`).join(''))
  else {
    const lines = changes.flatMap(linesOf)
    if (changeCount > changes.length) lines.push(`… and ${count(changeCount - changes.length, 'more change')}`)
    await write(lines.map((line) => `${line.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')}\n`).join(''))
  }
  const notes = [
    ...warnings.map((text) => `Warning: ${text}`),
    ...impact.map(({ kind, count: n, nodes }) => `Impact: ${IMPACTS[kind](n)}: ${nodes.slice(0, 500)}`),
    ...conflicts.map(({ kind, name, path, message }) => `Conflict: ${kind}/${name}: ${path === '' ? '' : `${path} `}${message}`),
    ...(conflictCount > conflicts.length ? [`… and ${count(conflictCount - conflicts.length, 'more conflict')}`] : []),
    ...issues.map(issueLine),
    ...(issueCount > issues.length ? [`… and ${count(issueCount - issues.length, 'more problem')}`] : []),
  ]
  for (const note of notes) process.stderr.write(`${note.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')}\n`)
  process.stderr.write(`${summary(plan)}\n`)
  if (issueCount + conflictCount > 0) process.exitCode = EXIT.rejected
}

function summary({ isApplied, createCount, updateCount, deleteCount, unchangedCount, issueCount, conflictCount }: Plan): string {
  if (issueCount > 0) return `${count(issueCount, 'problem')}. Nothing was changed.`
  if (conflictCount > 0)
    return `${count(conflictCount, 'conflict')}. Nothing was changed. --force-conflicts takes over the fields, except of outdated versions.`
  const counts = [
    [createCount, isApplied ? 'created' : 'to create'],
    [updateCount, isApplied ? 'changed' : 'to change'],
    [deleteCount, isApplied ? 'deleted' : 'to delete'],
    [unchangedCount, 'unchanged'],
  ] as const
  return counts.flatMap(([n, what]) => (n > 0 ? [`${n} ${what}`] : [])).join(', ') || 'No objects.'
}
