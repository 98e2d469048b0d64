import { request, subscribe } from '../../../client.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { fetchAll } from '../../../pages.ts'

const UPDATES = graphql(`subscription OperationUpdates($id: ID!) {
  slurmOperationUpdated(id: $id) { status error finishedAt steps { name state message } }
}`)
const NODES = graphql(`query OperationNodes($id: ID!, $first: Int, $after: String) {
  slurmOperation(id: $id) {
    nodes(first: $first, after: $after) {
      edges { node { name phase isFailed message checks { name state message } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

/** All nodes of an operation. */
export const operationNodes = (id: string) =>
  fetchAll(async (page) => (await request(NODES, { id, ...page })).slurmOperation?.nodes)

/** Prints each step and each change of a node until the operation ends. Sets the exit code. */
export async function watchOperation(id: string): Promise<void> {
  const shown = new Set<string>()
  const print = (line: string) => {
    if (!shown.has(line)) process.stderr.write(`${line}\n`)
    shown.add(line)
  }
  let last: { status: string; error: string | null } | undefined
  for await (const { slurmOperationUpdated: update } of subscribe(UPDATES, () => ({ id }))) {
    last = update
    for (const { name, state, message } of update.steps)
      print(`${state === 'DONE' ? 'done' : state === 'FAILED' ? 'FAILED' : '...'}  ${name}${message ? `: ${message}` : ''}`)
    for (const { name, phase, isFailed, message } of await operationNodes(id))
      if (phase !== 'WAITING' || isFailed) print(`      ${name}  ${isFailed ? 'FAILED' : phase}${message ? `: ${message}` : ''}`)
    if (update.finishedAt) break
  }
  if (!last) throw new CliError('The operation was deleted with its cluster.', EXIT.notFound)
  process.stderr.write(`${last.status}${last.error ? `: ${last.error}` : ''}\n`)
  if (last.status === 'PARTIAL' || last.status === 'FAILED' || last.status === 'CANCELED') process.exitCode = EXIT[last.status]
}

/** Follows a started operation, or prints how to. */
export async function followOperation(id: string, { watch }: { watch: boolean }): Promise<void> {
  if (watch) return watchOperation(id)
  process.stderr.write(`Started. Follow it with \`muster cluster operation get ${id} --watch\`.\n`)
}
