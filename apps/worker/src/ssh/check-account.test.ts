import type { PreflightStage } from '@muster/core/connections'
import type { NodeAccess } from '@muster/core/credentials/access'
import type { OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeAccessFor } from '../testing/node-access.ts'
import { RUN_FROM_STDIN } from './account-script.ts'
import { createBastionPool } from './bastion-pool.ts'
import { checkAccount } from './check-account.ts'
import { connectNode } from './connect.ts'
import { SshFailure } from './ssh-failure.ts'

let lab: OwnedLab
const bastions = createBastionPool()
beforeAll(async () => {
  lab = await createLab({ nodes: [{ name: 'one', profile: 'cpu' }] })
})
afterAll(() => bastions.close())

const root = { method: 'sudo', user: 'root', password: null } as const

/** The stages of an account by name, and the failure when its shell runs no commands. */
async function check(login: NodeAccess['login'], become: NodeAccess['become'] = root, timeoutMs = 4000) {
  const stages: PreflightStage[] = []
  const session = await connectNode(nodeAccessFor(lab.node('one'), login), { timeoutMs: 10_000, bastions })
  const failure = await checkAccount(session, become, { timeoutMs, onStage: (s) => stages.push(s) }).then(
    () => null,
    (error: unknown) => {
      if (error instanceof SshFailure) return error
      throw error
    },
  )
  session.close()
  return { failure, stages, at: (name: string) => stages.find((s) => s.stage === name) }
}

describe('checkAccount', () => {
  it('becomes another user by every method', async () => {
    const { sshKey, sudoPassword, rootPassword, rootKey } = lab.credentials
    const sudoWith = { ...root, password: sudoPassword!.password }
    expect((await check(sshKey)).at('SUDO')).toMatchObject({ state: 'OK', detail: 'sudo to root' })
    expect((await check(sudoPassword!, sudoWith)).at('SUDO')).toMatchObject({
      state: 'OK',
      detail: 'sudo to root with a password',
    })
    expect((await check(sshKey, { method: 'su', user: 'root', password: rootPassword!.password })).at('SUDO')).toMatchObject({
      state: 'OK',
      detail: 'su to root with a password',
    })
    expect((await check(rootKey!)).at('SUDO')).toMatchObject({ state: 'OK', detail: 'already root' })
    // The password is passed by stdin, because arguments appear in the node's process list.
    const { exec } = lab.node('one')
    await Promise.all([
      check(sudoPassword!, sudoWith),
      (async () => {
        for (let i = 0; i < 10; i++) expect((await exec(['ps', '-eo', 'args'])).stdout).not.toContain(sudoWith.password)
      })(),
    ])
  })

  it('reports why an account cannot become another user, and continues', async () => {
    const { sudoPassword, plainPassword } = lab.credentials
    const wrong = await check(sudoPassword!, { ...root, password: 'wrong' }, 8000)
    expect(wrong.at('SUDO')).toMatchObject({ state: 'FAILED', hint: 'Check the password of the become credential.' })
    const none = await check(sudoPassword!)
    expect(none.at('SUDO')).toMatchObject({ state: 'FAILED', hint: expect.stringContaining('NOPASSWD') })
    const rejected = await check(plainPassword!, { ...root, password: plainPassword!.password })
    expect(rejected.at('SUDO')).toMatchObject({ state: 'FAILED', detail: expect.stringContaining('not in the sudoers file') })
    for (const { failure, at } of [wrong, none, rejected]) {
      expect(failure).toBeNull()
      expect(at('ANSIBLE')).toMatchObject({ state: 'OK' })
    }
  })

  it('leaves nothing behind', async () => {
    await check(lab.credentials.sshKey)
    const { stdout } = await lab.node('one').exec(['find', '/home/ops', '-name', '.muster*'])
    expect(stdout).toBe('')
  })

  it('fails the stage ANSIBLE on a full disk', async () => {
    await lab.fault('one', 'full-disk')
    const { failure, at } = await check(lab.credentials.sshKey)
    await lab.heal('one')
    expect(failure).toBeNull()
    expect(at('ANSIBLE')).toMatchObject({
      state: 'FAILED',
      detail: expect.stringMatching(/Cannot write to .*No space left/),
    })
  })

  it('reports a Python that is too old, broken or incomplete', async () => {
    const node = lab.node('one')
    const pretend = async (script: string) => {
      await node.exec(['sh', '-c', 'cat > /usr/local/bin/python3.14 && chmod 755 /usr/local/bin/python3.14'], { input: script })
      return check(lab.credentials.sshKey)
    }
    // The check passes the mark as the last argument of `sh -c`.
    const last = '#!/bin/sh\nfor mark; do :; done\n'
    const old = await pretend(`${last}echo "$mark python 3.6.8 /opt/old"; echo "$mark ansible ok /home"\n`)
    expect([old.at('PYTHON'), old.at('ANSIBLE')]).toMatchObject([
      { state: 'FAILED', detail: 'Python 3.6.8 at /opt/old is too old.' },
      { state: 'SKIPPED' },
    ])
    const broken = await pretend('#!/bin/sh\nexit 127\n')
    expect(broken.at('PYTHON')).toMatchObject({ state: 'FAILED', detail: 'Its Python does not start.' })
    const cut = await pretend(`${last}echo "$mark python 3.12.1 /opt/cut"; echo "$mark ansible missing json,zipfile"\n`)
    expect(cut.at('ANSIBLE')).toMatchObject({ state: 'FAILED', detail: 'Its Python lacks json, zipfile.' })
    await node.exec(['rm', '/usr/local/bin/python3.14'])
  })
})

describe('a shell', () => {
  const withShell = async (script: string) => {
    const node = lab.node('one')
    await node.exec(
      [
        'sh',
        '-c',
        'cat > /usr/local/bin/odd-shell && chmod 755 /usr/local/bin/odd-shell && usermod -s /usr/local/bin/odd-shell ops',
      ],
      {
        input: script,
      },
    )
    const result = await check(lab.credentials.sshKey, root, 1500)
    await node.exec(['usermod', '-s', '/bin/bash', 'ops'])
    return result
  }

  it('works with a hint when it prints before each command', async () => {
    const { failure, at } = await withShell('#!/bin/sh\nprintf "Welcome!"\nexec /bin/sh "$@"\n')
    expect(failure).toBeNull()
    expect(at('SHELL')).toMatchObject({ state: 'OK', hint: expect.stringContaining('prints "Welcome!" before every command') })
    expect(at('ANSIBLE')).toMatchObject({ state: 'OK' })
  })

  it.each([
    [
      'runs no command',
      '#!/bin/sh\necho "This account is not available."\nexit 1\n',
      /cannot run commands \(exit code 1, output "This account/,
    ],
    ['does not respond', '#!/bin/sh\nexec sleep 600\n', /ran no command within 1\.5 s/],
    ['prints endlessly', '#!/bin/sh\nexec yes fooled\n', /prints without end: "fooled fooled/],
  ])('fails when it %s', async (_what, script, message) => {
    const { failure, stages } = await withShell(script)
    expect(failure).toMatchObject({ stage: 'SHELL', message: expect.stringMatching(message) })
    expect(stages).toHaveLength(1)
  })

  it('passes the check unchanged, also csh and fish', async () => {
    // csh expands `!` and ends quotes at newlines; fish interprets a backslash before a quote or a backslash.
    expect(RUN_FROM_STDIN).not.toMatch(/[!\n]|\\['\\]/)
    const { failure } = await withShell('#!/bin/sh\nexec /bin/dash "$@"\n')
    expect(failure).toBeNull()
  })
})
