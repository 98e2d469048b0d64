import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Product } from '@muster/bench/product'
import type { Lab } from '@muster/lab'
import { expect } from 'vitest'
import { roleUrls } from '../../../../packages/core/src/kernel/db/role-urls.ts'
import { makePrivateKey, nodeEnvironment } from '../../../../packages/core/src/testing/index.ts'
import { totpCode } from '../../../api/src/testing/totp.ts'
import { useProviderSecrets } from './provider-canaries.ts'
import type { Canary, Place } from './search-secrets.ts'

const RESET_OWNER = fileURLToPath(new URL('../../../api/src/reset-owner.ts', import.meta.url))
// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the operation
type Fields = Record<string, any>
type Answer = { data?: Record<string, Record<string, never>>; errors?: unknown }

/** With characters that URLs and JSON escape. */
const secret = (): string => `cä"/${randomBytes(12).toString('base64')}+&`

/** A line of a key that belongs to its private part. */
const lineOf = (key: string): string => key.trim().split('\n').at(-2)!

/** The token of a link, which browsers do not send to servers. */
const tokenIn = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('token')!

type Planted = {
  canaries: Canary[]
  /** Answers of refused requests that had secrets. */
  errors: Place
  /** Stores a text in the database, as a leak would. */
  leak(text: string): Promise<unknown>
}

/** Plants secrets of 20 and more kinds through the API, lets workers use them, and returns them with what the API refused. */
export async function plantCanaries(product: Product, lab: Lab): Promise<Planted> {
  const canaries: Canary[] = []
  const plant = (kind: string, value = secret()): string => {
    canaries.push({ kind, value })
    return value
  }
  let session: string | null = null
  const send = async (operation: string, fields: string, input: object): Promise<Answer> => {
    const type = `${operation[0]!.toUpperCase()}${operation.slice(1)}`
    const response = await fetch(`${product.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(session ? { authorization: `Bearer ${session}` } : {}) },
      body: JSON.stringify({
        query: `mutation ($input: ${type}Input!) { it: ${operation}(input: $input) { __typename ... on ${type}Payload { ${fields} } ... on Error { message } } }`,
        variables: { input },
      }),
    })
    return (await response.json()) as Answer
  }
  const mutate = async (operation: string, fields: string, input: object) => {
    const answer = await send(operation, fields, input)
    expect(answer.data?.it, `${operation} ${JSON.stringify(answer)}`).toMatchObject({
      __typename: expect.stringMatching(/Payload$/),
    })
    return answer.data!.it! as Fields
  }

  plant('master password', readFileSync(path.join(product.dir, 'master-password'), 'utf8').trim())
  const { app, system } = roleUrls({ DATABASE_URL: product.databaseUrl })
  for (const [role, url] of Object.entries({ owner: product.databaseUrl, app, system }))
    plant(`password of the database role ${role}`, decodeURIComponent(new URL(url).password))
  // Not synchronously: fetch would not notice that the server closed an idle connection.
  const { stdout: link } = await promisify(execFile)(process.execPath, [RESET_OWNER], {
    env: {
      ...nodeEnvironment,
      DATABASE_URL: product.databaseUrl,
      MUSTER_PUBLIC_URL: product.url,
      MUSTER_DATA_DIR: product.dir,
      CREDENTIAL_MASTER_PASSWORD_FILE: path.join(product.dir, 'master-password'),
    },
  })
  const token = plant('reset token', tokenIn(link.trim()))
  session = plant('session token', (await mutate('signInWithLink', 'sessionToken', { token })).sessionToken)
  await mutate('setPassword', '__typename', { password: plant('password of a user') })
  const totp = await mutate('startTotp', 'uri recoveryCodes', { currentPassword: canaries.at(-1)!.value })
  plant('TOTP secret', new URL(totp.uri).searchParams.get('secret')!)
  for (const code of totp.recoveryCodes) plant('recovery code', code)
  session = plant('session token', (await mutate('confirmTotp', 'sessionToken', { code: totpCode(totp.uri) })).sessionToken)
  plant('API token', (await mutate('createApiToken', 'secret', { name: 'canary', role: 'viewer' })).secret)
  plant('enrollment token', (await mutate('createAgentEnrollmentToken', 'token', {})).token)
  const { link: invitation } = await mutate('inviteMember', 'link', { email: 'canary@invited.test', role: 'viewer' })
  plant('invitation token', tokenIn(invitation))

  const { sshKey, sudoPassword } = lab.credentials
  const credential = async (name: string, fields: object): Promise<string> =>
    (await mutate('createCredential', 'credential { id }', { name: `canary ${name}`, ...fields })).credential.id
  const key = await credential('key', {
    kind: 'SSH_KEY',
    username: sshKey.username,
    privateKey: sshKey.encryptedPrivateKey,
    passphrase: plant('passphrase', sshKey.passphrase),
  })
  plant('SSH key', lineOf(sshKey.encryptedPrivateKey))
  plant('SSH key without a passphrase', lineOf(sshKey.privateKey))
  const login = {
    kind: 'SSH_PASSWORD',
    username: sudoPassword!.username,
    password: plant('SSH and become password', sudoPassword!.password),
  }
  const password = await credential('password', login)
  const become = await credential('become', { kind: 'BECOME', password: sudoPassword!.password })
  await credential('unused become', { kind: 'BECOME', password: plant('become password') })
  await credential('git', { kind: 'GIT', host: 'git.test', username: 'git', password: plant('git password') })
  await credential('salt', { kind: 'SALT', host: 'salt.test', username: 'muster', password: plant('salt password') })
  const slurmrestd = { kind: 'SLURMRESTD', host: 'slurmrestd.test', username: 'muster' }
  await credential('slurmrestd', { ...slurmrestd, password: plant('slurmrestd token') })
  await credential('bmc', { kind: 'BMC', username: 'admin', password: plant('BMC password') })
  const bastionKey = makePrivateKey()
  plant('bastion key', lineOf(bastionKey))
  await credential('bastion', { kind: 'BASTION', host: '192.0.2.1', username: 'ops', privateKey: bastionKey })
  await mutate('createSecretStore', '__typename', {
    name: 'canary',
    address: 'https://vault.invalid',
    auth: 'TOKEN',
    secret: plant('token of a secret store', `hvs.${randomBytes(12).toString('hex')}`),
  })
  await mutate('setSecretVar', '__typename', { name: 'canary', value: plant('secret variable') })
  const hook = {
    url: `https://hooks.invalid/${plant('path of a webhook', randomBytes(12).toString('hex'))}`,
    secret: plant('webhook secret'),
  }
  const route = await mutate('createAlertRoute', 'alertRoute { id }', { name: 'canary', kind: 'WEBHOOK', ...hook })
  const mail = await mutate('createAlertRoute', 'alertRoute { id }', {
    name: 'canary mail',
    kind: 'EMAIL',
    host: 'mail.invalid',
    username: 'canary',
    from: 'a@mail.test',
    to: ['b@mail.test'],
    secret: plant('SMTP password'),
  })
  for (const { alertRoute } of [route, mail]) await mutate('testAlertRoute', '__typename', { id: alertRoute.id })
  const { auditSink } = await mutate('createAuditSink', 'auditSink { id }', {
    name: 'canary',
    kind: 'WEBHOOK',
    url: 'https://siem.invalid/',
    secret: plant('secret of an audit sink'),
    authorization: plant('authorization of an audit sink', `Bearer ${randomBytes(12).toString('hex')}`),
  })
  await mutate('testAuditSink', '__typename', { id: auditSink.id })

  // Refused requests with secrets: their answers and logs must not repeat them.
  const refused = [
    ['createCredential', { name: 'canary key', ...login }],
    [
      'createCredential',
      { name: 'canary wrong', kind: 'WRONG', password: plant('password in a request that does not validate') },
    ],
    ['createCredential', { name: 'canary broken', kind: 'SSH_KEY', username: 'a', privateKey: plant('key that is not one') }],
    ['signIn', { email: 'owner@muster.local', password: plant('wrong password') }],
    ['setSecretVar', { name: 'not-a-name', value: plant('value of a refused variable') }],
  ] as const
  const answers = await Promise.all(refused.map(([operation, input]) => send(operation, '__typename', input)))
  expect(answers.filter(({ data }) => String(data?.it?.__typename).endsWith('Payload'))).toEqual([])

  const providers = await useProviderSecrets(product, plant('OIDC client secret'), plant('LDAP bind password'))

  const ask = async (query: string, variables: object = {}) => {
    const response = await fetch(`${product.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${session}` },
      body: JSON.stringify({ query, variables }),
    })
    return ((await response.json()) as { data: Fields }).data
  }
  const { nodes } = await ask('{ nodes(first: 10) { edges { node { id name } } } }')
  const idOf = (name: string): string => nodes.edges.find(({ node }: Fields) => node.name === name).node.id
  await mutate('updateNode', '__typename', { id: idOf('gpu02'), credentialId: password, becomeCredentialId: become })
  await mutate('updateNode', '__typename', { id: idOf('gpu03'), credentialId: key })
  const { run } = await mutate('runJob', 'run { id }', {
    template: 'connectivity_check',
    limit: 'gpu02,gpu03',
    become: true,
    verbosity: 3,
  })
  await expect
    .poll(
      async () => (await ask('query ($id: ID!) { node(id: $id) { ... on JobRun { status } } }', { id: run.id })).node.status,
      {
        timeout: 120_000,
        interval: 500,
      },
    )
    .toMatch(/SUCCEEDED|FAILED|ERROR/)
  const leak = (notes: string) => mutate('updateNode', '__typename', { id: idOf('gpu01'), notes })
  return { canaries, leak, errors: { name: 'answers of refused requests', text: JSON.stringify(answers) + providers } }
}
