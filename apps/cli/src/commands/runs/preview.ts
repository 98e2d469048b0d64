import { request } from '../../client.ts'
import type { Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts'
import { clock, count, isTable, printObject, printRows, shellQuote } from '../../output.ts'

const PREVIEW = graphql(`query Preview($input: RunJobInput!) {
  previewRun(input: $input) {
    __typename
    ... on RunPreview {
      hostCount hostlist command extraVars { name value { json isSecret } } inventory
      hosts(first: 500) { edges { node { name groups blockedReason vars { name value { json isSecret } layer group } } } }
      rejections { hostlist reason }
      skipped { hostlist reason }
      setsMaintenance
      waitsFor { hostlist run { id number templateName createdBy { name } } }
      slurm {
        clusterName batchCount batches { hosts { count hostlist } jobCount waitSeconds } partitions { name nodes inService floor }
        outOfService { count hostlist } skipped { host reason } waiting { host reason } waitsFor playbookSeconds estimatedSeconds
      }
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)

type Answer = Extract<ResultOf<typeof PREVIEW>['previewRun'], { __typename: 'RunPreview' }>
type Preview = Omit<Answer, 'hosts'> & { hosts: Answer['hosts']['edges'][number]['node'][] }

/** Prints the preview of a run. @returns exit code, 5 when the run would be rejected */
export async function preview(input: VariablesOf<typeof PREVIEW>['input'], output: Output): Promise<number> {
  const { previewRun } = await request(PREVIEW, { input })
  const answer = orThrow(previewRun)
  const run: Preview = { ...answer, hosts: answer.hosts.edges.map((edge) => edge.node) }
  if (isTable(output)) printPreview(run, output)
  else printObject(run, output)
  const omitted = run.hostCount - run.hosts.length
  if (omitted > 0) process.stderr.write(`${omitted} more nodes are not shown; use a narrower limit.\n`)
  return run.rejections.length > 0 ? EXIT.rejected : EXIT.ok
}

function printPreview(run: Preview, output: Output): void {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  print(run.command.map(shellQuote).join(' '))
  print(`on ${count(run.hostCount, 'node')}: ${run.hostlist || '-'}`)
  for (const { hostlist, reason } of run.skipped) print(`${hostlist}: ${reason}`)
  if (run.setsMaintenance) print('The nodes are in maintenance while the run executes: it may reboot them.')
  for (const { hostlist, reason } of run.rejections) print(`rejected: ${hostlist}: ${reason}`)
  for (const each of run.waitsFor) print(`waits for ${each.run.templateName} of ${each.run.createdBy.name} on ${each.hostlist}`)
  if (run.slurm) printBatches(run.slurm, output)
  print('')
  printRows(
    run.hosts.flatMap((host) => host.vars.map((each) => ({ host: host.name, ...each }))),
    [
      { title: 'NODE', value: (v) => v.host },
      { title: 'VARIABLE', value: (v) => v.name },
      { title: 'VALUE', value: (v) => (v.value.isSecret ? '(secret)' : JSON.stringify(v.value.json)) },
      { title: 'FROM', value: (v) => [v.layer.toLowerCase(), v.group].filter(Boolean).join(' ') },
    ],
    output,
    'No variables.',
  )
  for (const { name, value } of run.extraVars) if (value.isSecret) print(`${name} is secret and not shown.`)
}

const duration = (seconds: number | null): string => clock(seconds === null ? null : seconds * 1000) ?? 'unknown'

function printBatches(slurm: NonNullable<Preview['slurm']>, output: Output): void {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  print(
    `\n${slurm.batchCount} ${slurm.batchCount === 1 ? 'batch' : 'batches'} of ${slurm.clusterName}; estimated duration: ${duration(slurm.estimatedSeconds)}`,
  )
  if (slurm.waitsFor) print(`cannot begin now: waits for ${slurm.waitsFor}`)
  for (const { host, reason } of slurm.skipped) print(`skipped: ${host}: ${reason}`)
  for (const { host, reason } of slurm.waiting) print(`waiting: ${host}: ${reason}`)
  if (slurm.outOfService.count > 0) print(`already out of service, not resumed afterwards: ${slurm.outOfService.hostlist}`)
  for (const { name, nodes, inService, floor } of slurm.partitions)
    print(`partition ${name}: ${inService} of ${count(nodes, 'node')} in service, ${floor} must stay`)
  printRows(
    slurm.batches,
    [
      { title: 'BATCH', value: (batch) => slurm.batches.indexOf(batch) + 1 },
      { title: 'NODES', value: ({ hosts }) => hosts.hostlist },
      { title: 'JOBS', value: ({ jobCount }) => jobCount },
      { title: 'WAIT', value: ({ waitSeconds }) => duration(waitSeconds) },
    ],
    output,
    'No batches.',
  )
}
