import { request, subscribe } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql, type VariablesOf } from '../../graphql.ts'

const START = graphql(`mutation CheckReadiness($input: CheckSlurmReadinessInput!) {
  checkSlurmReadiness(input: $input) {
    __typename ... on CheckSlurmReadinessPayload { slurmReadinessCheck { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
const UPDATES = graphql(`subscription ReadinessUpdates($id: ID!) {
  slurmReadinessCheckUpdated(id: $id) { error nodes { name isReady checks { name state message } } }
}`)

/** Checks nodes over SSH and prints the findings of each one on stderr. @returns names of the nodes that cannot join */
export async function checkReadiness(input: VariablesOf<typeof START>['input']): Promise<string[]> {
  const { id } = orThrow((await request(START, { input })).checkSlurmReadiness).slurmReadinessCheck
  const printed = new Set<string>()
  let failed: string[] = []
  let error: string | null = null
  for await (const { slurmReadinessCheckUpdated: update } of subscribe(UPDATES, () => ({ id }))) {
    error = update.error
    failed = update.nodes.filter(({ isReady }) => isReady === false).map(({ name }) => name)
    for (const { name, checks } of update.nodes) {
      if (!checks || printed.has(name)) continue
      printed.add(name)
      const problems = checks.filter(({ state }) => state !== 'OK')
      if (problems.length === 0) process.stderr.write(`${name}: OK, ${checks.length} checks\n`)
      for (const { name: check, state, message } of problems) process.stderr.write(`${name}: ${state} ${check}: ${message}\n`)
    }
  }
  if (error) throw new CliError(error, EXIT.failed)
  return failed
}
