import { request } from './client.ts'
import { EXIT, orThrow } from './errors.ts'
import { graphql, type ResultOf, type VariablesOf } from './graphql.ts'
import { type Format, printObject, printRows, word } from './output.ts'

const PREVIEW = graphql(`query Preview($input: RunJobInput!) {
  previewRun(input: $input) {
    __typename
    ... on RunPreview {
      hostsTotal hostlist command extraVars secretVars inventory
      hosts(first: 1000) { name groups blockedReason vars { name value isSecret layer group } }
      refusals { hostlist reason }
      waitsFor { hostlist ownerName run { id templateName } }
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)

type Preview = Extract<ResultOf<typeof PREVIEW>['previewRun'], { __typename: 'RunPreview' }>

/** Print what a run would be. @returns the exit code: 5 when it would be refused */
export async function preview(input: VariablesOf<typeof PREVIEW>['input'], output: Format): Promise<number> {
  const { previewRun } = await request(PREVIEW, { input })
  const run = orThrow(previewRun)
  if (output === 'table') print(run)
  else printObject(run, output)
  const left = run.hostsTotal - run.hosts.length
  if (left > 0) process.stderr.write(`${left} more nodes are not shown one by one; look at them with a narrower limit.\n`)
  return run.refusals.length > 0 ? EXIT.refused : EXIT.ok
}

function print(run: Preview): void {
  const say = (line: string) => process.stdout.write(`${line}\n`)
  say(run.command.map(word).join(' '))
  say(`on ${run.hostsTotal} ${run.hostsTotal === 1 ? 'node' : 'nodes'}: ${run.hostlist || '-'}`)
  for (const { hostlist, reason } of run.refusals) say(`refused: ${hostlist} ${reason}`)
  for (const each of run.waitsFor) say(`waits for ${each.run.templateName} of ${each.ownerName} on ${each.hostlist}`)
  say('')
  printRows(
    run.hosts.flatMap((host) => host.vars.map((each) => ({ host: host.name, ...each }))),
    [
      { title: 'NODE', value: (v) => v.host },
      { title: 'VARIABLE', value: (v) => v.name },
      { title: 'VALUE', value: (v) => (v.isSecret ? '(secret)' : JSON.stringify(v.value)) },
      { title: 'FROM', value: (v) => [v.layer.toLowerCase(), v.group].filter(Boolean).join(' ') },
    ],
    'table',
    'No variables.',
  )
  for (const name of run.secretVars) say(`${name} is secret and is not shown.`)
}
