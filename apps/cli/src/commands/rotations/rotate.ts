import { Option } from 'commander'
import { request, subscribe } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { findCredential } from '../../lookup.ts'
import { count, isTable, plain, printObject } from '../../output.ts'
import { prompt } from '../../prompt.ts'
import { type FieldOptions, secrets } from '../credentials/fields.ts'
import { type Decision, decide } from './decide.ts'

const UPDATES = graphql(`subscription CredentialRotationUpdates($id: ID!) {
  credentialRotationUpdated(id: $id) {
    id status nodeCount installedCount failedCount finishedAt leftCredential { name }
    hosts(first: 50, status: [FAILED]) { edges { node { error node { name } } } }
  }
}`)
type Rotation = ResultOf<typeof UPDATES>['credentialRotationUpdated']

type Options = Output &
  Pick<FieldOptions, 'keyFile' | 'passphrase' | 'password' | 'secretStdin'> & { yes?: true; status?: true } & Partial<
    Record<Decision, true>
  >

export const credentialRotate = () =>
  new Command('rotate')
    .description('replace the key or password of a credential on all nodes that use it')
    .argument('<name>')
    .option('--key-file <path>', 'SSH_KEY: new private key file (default: a new Ed25519 key)')
    .option('--passphrase', 'ask for the passphrase of the new key')
    .option('--password', 'SSH_PASSWORD: ask for the new password (default: a random password)')
    .option('--secret-stdin', 'read the passphrase (with --key-file) or the password from standard input instead of asking')
    .option('--yes', YES_HELP)
    .addOption(
      new Option('--status', 'start nothing; follow the current rotation or show the last one').conflicts([
        'resume',
        'complete',
        'cancel',
      ]),
    )
    .addOption(new Option('--resume', 'try the failed nodes of a paused rotation again').conflicts(['complete', 'cancel']))
    .addOption(
      new Option('--complete', 'complete a paused rotation; failed nodes get a credential with the previous secret').conflicts(
        'cancel',
      ),
    )
    .option('--cancel', 'restore the previous secret on all nodes')
    .withOutput()
    .action(async (name: string, options: Options) => {
      const decision = (['resume', 'complete', 'cancel'] as const).find((each) => options[each])
      const id = decision || options.status ? await lastRotation(name) : await start(name, options)
      if (decision) await decide(decision, id)
      const rotation = await follow(id, options)
      if (rotation.status !== (options.cancel ? 'CANCELED' : 'SUCCEEDED')) process.exitCode = EXIT.failed
    })

async function start(name: string, options: Options): Promise<string> {
  const { id, kind } = await findCredential(name)
  const { node } = await request(
    graphql(`query CredentialRotationNodes($id: ID!) { node(id: $id) { ... on Credential { usedBy { role count hostlist } } } }`),
    { id },
  )
  const login = node && 'usedBy' in node ? node.usedBy.find(({ role }) => role === 'LOGIN') : undefined
  if (!options.yes && login) {
    process.stderr.write(`Replace the secret of ${name} on ${count(login.count, 'node')}: ${login.hostlist}.\n`)
    if ((await prompt('Confirmation (yes or no)', '--yes')) !== 'yes') throw new CliError('Nothing was changed.', EXIT.failed)
  }
  const isGiven = options.keyFile || options.password || options.secretStdin
  const { rotateCredential } = await request(
    graphql(`mutation CredentialRotate($input: RotateCredentialInput!) {
      rotateCredential(input: $input) { __typename ... on RotateCredentialPayload { credentialRotation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { input: { id, ...(isGiven ? await secrets(kind, options) : {}) } },
  )
  process.stderr.write('Started. Ctrl-C stops watching, not the rotation.\n')
  return orThrow(rotateCredential).credentialRotation.id
}

async function lastRotation(name: string): Promise<string> {
  const { id } = await findCredential(name)
  const { node } = await request(
    graphql(
      `query CredentialRotationLast($id: ID!) { node(id: $id) { ... on Credential { rotations(first: 1) { edges { node { id } } } } } }`,
    ),
    { id },
  )
  const last = node && 'rotations' in node ? node.rotations.edges[0]?.node.id : undefined
  if (!last)
    throw new CliError(`The credential ${name} was never rotated. See \`muster credential rotate --help\`.`, EXIT.notFound)
  return last
}

/** Prints the progress until the rotation ends or pauses. */
async function follow(id: string, output: Output): Promise<Rotation> {
  let last: Rotation | undefined
  let printed = ''
  for await (const { credentialRotationUpdated: rotation } of subscribe(UPDATES, () => ({ id }))) {
    last = rotation
    const line = `${rotation.status}: ${rotation.installedCount} of ${count(rotation.nodeCount, 'node')} have the new secret, ${rotation.failedCount} failed`
    if (isTable(output) && line !== printed) process.stderr.write(`${line}\n`)
    printed = line
    if (rotation.finishedAt || rotation.status === 'PAUSED') break
  }
  if (!last) throw new CliError('The rotation was deleted.', EXIT.notFound)
  if (isTable(output)) process.stdout.write(plain(`${describe(last)}\n`, false))
  else printObject(last, output)
  return last
}

function describe({ status, hosts, leftCredential, failedCount, nodeCount }: Rotation): string {
  const shown = hosts.edges.map(({ node: { node, error } }) => `${node.name}: ${error}`)
  const more = failedCount > shown.length ? [`and ${failedCount - shown.length} more`] : []
  const next = {
    RUNNING: [],
    CANCELING: [],
    PAUSED: ['Every node is reachable as before. Continue with --resume, --complete or --cancel.'],
    SUCCEEDED: [`${count(nodeCount, 'node')} accept only the new secret.`],
    PARTIAL: leftCredential
      ? [`The failed nodes use the credential ${leftCredential.name}.`]
      : ['The previous key is still accepted there.'],
    CANCELED: ['The credential kept its previous secret.'],
  }[status]
  return [...shown, ...more, ...next].join('\n')
}
