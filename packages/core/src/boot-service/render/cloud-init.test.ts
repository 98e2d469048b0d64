import { expect, test } from 'vitest'
import type { ResolvedBootProfile } from '../../boot-profiles/index.ts'
import { cloudInitDataOf } from './cloud-init.ts'

const NODE = { name: 'cn1', xname: null, nid: null }
const profileOf = (...userData: string[]) =>
  ({
    ...{ adminUser: null, sshKeys: [], vendorData: [], networkConfig: null },
    userData: userData.map((value) => ({ value, profile: { id: '1', name: 'a', version: 1 } })),
  }) as unknown as ResolvedBootProfile
const userDataOf = (...parts: string[]) => cloudInitDataOf(NODE, profileOf(...parts)).userData

test('encodes parts with other characters than ASCII, which cloud-init would garble', () => {
  const script = `#!/bin/sh\necho ${'ü'.repeat(100)}\n`
  const message = userDataOf('#!/bin/sh\ntrue\n', script)
  expect(message).toContain('Content-Transfer-Encoding: 7bit\n\n#!/bin/sh\ntrue\n')
  const [, encoded = ''] = /base64\n\n([A-Za-z0-9+/=\n]+?)\n--/.exec(message) ?? []
  expect(Buffer.from(encoded, 'base64').toString()).toBe(script)
  expect(Math.max(...message.split('\n').map((line) => line.length))).toBeLessThan(100)
})

test('equal parts give equal bytes, and a single part stays as it is', () => {
  expect(userDataOf('#!/bin/sh\n', '#!/bin/sh\n')).toBe(userDataOf('#!/bin/sh\n', '#!/bin/sh\n'))
  expect(userDataOf('#!/bin/sh\necho é\n')).toBe('#!/bin/sh\necho é\n')
})
