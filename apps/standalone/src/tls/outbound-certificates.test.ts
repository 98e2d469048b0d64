import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from 'node:tls'
import { ldapSettings, mailSettings, oidcSettings } from '@muster/core/access'
import { artifactStoreSettings, openArtifactStore } from '@muster/core/artifacts'
import { loadConfig } from '@muster/core/config'
import { LOOPBACK } from '@muster/core/testing'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMailer } from '../../../api/src/mail/mailer.ts'
import { createLdap } from '../../../api/src/sign-in/ldap.ts'
import { createOidc } from '../../../api/src/sign-in/oidc.ts'
import { sendEmail } from '../../../worker/src/alerts/email.ts'
import { noIsolation } from '../../../worker/src/ansible/isolation/isolation.ts'
import { checkOutRepository } from '../../../worker/src/ansible/source/check-out.ts'
import { REPOSITORY_LIMITS } from '../../../worker/src/ansible/source/confine.ts'
import { sendSyslog } from '../../../worker/src/audit/send-syslog.ts'
import { post } from '../../../worker/src/delivery/post.ts'
import { createReadSecret } from '../../../worker/src/secrets/read-secret.ts'

const DAY_MS = 86_400_000
const SECRET = 'correct horse'
const limits = { localTargets: LOOPBACK, timeoutMs: 5000, signal: new AbortController().signal }
const provider = { publicUrl: 'https://muster.test', defaultTenant: 'Default', localTargets: LOOPBACK }

/** Certificates that Muster must reject: trusted by the system or not, and the reason that the error names. */
const KINDS = {
  'for another name': {
    isTrusted: true,
    san: 'other.test',
    endsAt: 1,
    reason: /it is for another name.*; use a name that it has/,
  },
  'of an unknown authority': { isTrusted: false, san: null, endsAt: 1, reason: /untrusted certificate.*; set / },
  'that has expired': { isTrusted: true, san: null, endsAt: -1, reason: /it has expired.*; renew it/ },
} as const

/** Every TLS client, with a secret that it would send. */
const CLIENTS: Record<string, (port: number, folder: string) => Promise<unknown>> = {
  'a webhook': (port) =>
    post({ url: new URL(`https://127.0.0.1:${port}/`), headers: { authorization: SECRET }, body: SECRET }, limits),
  'Vault or OpenBao': (port) => readSecret(port, 'VAULT'),
  'AWS Secrets Manager': (port) => readSecret(port, 'AWS_SECRETS_MANAGER'),
  'an OpenID provider': (port) =>
    createOidc(loadConfig({ OIDC_ISSUER: `https://127.0.0.1:${port}`, OIDC_CLIENT_ID: SECRET }, oidcSettings), provider)!.start(),
  'an LDAP directory': (port) => {
    const bases = { LDAP_USER_BASE: 'ou=people', LDAP_GROUP_BASE: 'ou=groups' }
    return createLdap(loadConfig({ LDAP_URL: `ldaps://127.0.0.1:${port}`, ...bases }, ldapSettings), provider)!.authenticate(
      'ada',
      SECRET,
    )
  },
  'the mail server of the installation': (port) =>
    createMailer(loadConfig({ SMTP_URL: `smtps://127.0.0.1:${port}` }, mailSettings), provider.publicUrl)!.send({
      to: 'ada@site.test',
      subject: SECRET,
      text: SECRET,
    }),
  'the mail server of an alert route': (port) => {
    const delivery = { id: '1', event: 'test' as const, alerts: [], createdAt: new Date() }
    const settings = { host: '127.0.0.1', port, security: 'tls' as const, username: 'a', from: 'a@b.test', to: ['c@d.test'] }
    return sendEmail(settings, SECRET, { delivery, tenantName: 'Ours', link: 'https://muster.test' }, limits)
  },
  'a syslog receiver': (port) => sendSyslog({ host: '127.0.0.1', port }, [SECRET], limits),
  'an S3 store': async (port) => {
    const settings = {
      ARTIFACT_DIR: '/nowhere',
      NODE_ARTIFACTS_BUCKET: 'logs',
      S3_ENDPOINT: `https://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: 'key',
      S3_SECRET_ACCESS_KEY: SECRET,
    }
    throw new Error((await openArtifactStore(loadConfig(settings, artifactStoreSettings)).notReadyReason())!)
  },
}

function readSecret(port: number, kind: 'VAULT' | 'AWS_SECRETS_MANAGER') {
  const store = { id: '1', name: 'store', address: `https://127.0.0.1:${port}`, namespace: null, mount: 'secret', roleId: null }
  const aws = { region: 'eu-central-1', accessKeyId: 'key' }
  return createReadSecret(LOOPBACK)({ ...store, ...aws, kind, auth: 'TOKEN', secret: SECRET }, 'nodes/gpu')
}

let folder: string
const before = getCACertificates('default')
const servers = new Map<string, { server: Server; port: number }>()
const received: Buffer[] = []
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'muster-certificates-'))
  const trusted = []
  for (const [kind, { isTrusted, san, endsAt }] of Object.entries(KINDS)) {
    const now = Date.now()
    const { cert, private: key } = await generate([{ name: 'commonName', value: kind }], {
      keyType: 'ec',
      curve: 'P-256',
      algorithm: 'sha256',
      notBeforeDate: new Date(now - 2 * DAY_MS),
      notAfterDate: new Date(now + endsAt * DAY_MS),
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'subjectAltName', altNames: [san ? { type: 2, value: san } : { type: 7, ip: '127.0.0.1' }] },
      ],
    })
    if (isTrusted) trusted.push(cert)
    const server = createServer({ key, cert }, (socket) => {
      socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    servers.set(kind, { server, port: (server.address() as AddressInfo).port })
  }
  setDefaultCACertificates([...before, ...trusted])
})
afterAll(() => {
  setDefaultCACertificates(before)
  for (const { server } of servers.values()) server.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(Object.entries(KINDS))('a certificate %s is rejected', (kind, { reason }) => {
  test.each(Object.entries(CLIENTS))('by the client of %s, with address, reason and next step', async (_name, connect) => {
    const message = await connect(servers.get(kind)!.port, folder).then(
      () => 'connected',
      (error: Error) => error.message,
    )
    expect(message).toMatch(reason)
    expect(message).toContain('127.0.0.1')
    expect(message).not.toContain(SECRET)
    expect(Buffer.concat(received).toString()).toBe('')
  })

  // git has no setting for authorities: it trusts those of the system, which have none of the three certificates.
  test('by git', async () => {
    const url = `https://127.0.0.1:${servers.get(kind)!.port}/plays`
    const dir = path.join(folder, kind)
    await mkdir(dir)
    const directory = { dir, sshDir: dir, user: null, marker: 'MUSTER_RUN=test', remove: async () => {} }
    const options = { directory, isolation: noIsolation(null), limits: REPOSITORY_LIMITS, signal: limits.signal }
    await expect(checkOutRepository(url, 'main', { ...options, root: path.join(dir, 'project') })).rejects.toThrow(
      /https:\/\/127\.0\.0\.1:\d+\/plays could not be fetched.*certificate.* Use a name that the certificate has, renew it, or add its CA/,
    )
    expect(Buffer.concat(received).toString()).toBe('')
  })
})
