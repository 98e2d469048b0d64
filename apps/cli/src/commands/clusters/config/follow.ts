import { request, subscribe } from '../../../client.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'

const UPDATES = graphql(`subscription ClusterConfigOperation($id: ID!) {
  slurmOperationUpdated(id: $id) { status error finishedAt steps { message } }
}`)

/** Prints the progress of an operation, and waits for its end. @throws CliError it failed or was canceled */
export async function followOperation({ id }: { id: string }): Promise<void> {
  let shown: string | null = null
  let last: { status: string; error: string | null } | undefined
  for await (const { slurmOperationUpdated: update } of subscribe(UPDATES, () => ({ id }))) {
    last = update
    const message = update.steps.at(-1)?.message ?? null
    if (message !== null && message !== shown && !update.error) process.stderr.write(`${message}\n`)
    shown = message
    if (update.finishedAt) break
  }
  if (!last) throw new CliError('The operation was deleted with its cluster.', EXIT.notFound)
  if (last.status !== 'SUCCEEDED') throw new CliError(last.error ?? `The operation ended with ${last.status}.`, EXIT.failed)
}

const VERSION = graphql(`query ClusterConfigVersion($name: String!, $number: Int) {
  slurmCluster(name: $name) {
    id name configNumber
    configVersion(number: $number) { number origin basedOn reason createdAt createdBy { name } files { name text } }
  }
}`)

/** A version of a cluster's configuration; without a number, the newest one. @throws CliError there is none */
export async function readVersion(name: string, number?: number) {
  const { slurmCluster } = await request(VERSION, { name, number: number ?? null })
  if (!slurmCluster) throw new CliError(`No cluster named ${name}. See \`muster cluster list\`.`, EXIT.notFound)
  const { configVersion: version } = slurmCluster
  if (!version)
    throw new CliError(
      number === undefined
        ? `${name} has no configuration yet. Read it with \`muster cluster config import\`.`
        : `${name} has no version ${number} of its configuration. See \`muster cluster config list ${name}\`.`,
      EXIT.notFound,
    )
  return { cluster: slurmCluster, version }
}

type DiffLine = { kind: 'SAME' | 'ADDED' | 'REMOVED'; text: string }
const SIGNS = { SAME: ' ', ADDED: '+', REMOVED: '-' } as const
const CONTEXT = 3

/** The changed lines of each file, with three lines around them. */
export function formatDiff(files: readonly { file: string; lines: readonly DiffLine[] }[]): string {
  return files
    .map(({ file, lines }) => {
      const isShown = lines.map((_, i) =>
        lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ kind }) => kind !== 'SAME'),
      )
      const shown = lines.flatMap(({ kind, text }, i) => {
        if (isShown[i]) return [`${SIGNS[kind]}${text}`]
        return i === 0 || isShown[i - 1] ? ['…'] : []
      })
      return `${file}\n${shown.join('\n')}\n`
    })
    .join('')
}
