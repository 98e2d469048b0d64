import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { count } from '../../output.ts'
import { follow } from './follow.ts'

/** Prints the ID of a started run, or follows it; the exit code is that of its status. */
export async function followStarted(
  run: { id: string; number: number; hostCounts: { total: number } },
  detach: true | undefined,
): Promise<void> {
  const id = bareId(run.id)
  if (detach) return void process.stdout.write(`${id}\n`)
  const where = count(run.hostCounts.total, 'node')
  process.stderr.write(`Run ${run.number} on ${where}. Ctrl-C stops following, not the run.\n`)
  // Explains an empty log.
  const { node } = await request(
    graphql(`query Blockers($id: ID!) {
      node(id: $id) { ... on JobRun { waitingFor { hostlist run { number templateName createdBy { name } } } } }
    }`),
    { id: run.id },
  )
  for (const { hostlist, run: other } of node && 'waitingFor' in node ? node.waitingFor : [])
    process.stderr.write(`Waiting for ${other.templateName} ${other.number} of ${other.createdBy.name} on ${hostlist}.\n`)
  process.exitCode = await follow(run.id)
}
