import { slurmCheckMessages, slurmMessages, slurmOperationMessages } from '@muster/core/clusters'
import { accessMessages } from '@muster/core/context'
import { describeMessage } from '@muster/core/messages'
import { powerMessages } from '@muster/core/power'
import { afterEach, expect, test } from 'vitest'
import { en } from './en/index.ts'
import { activate } from './index.ts'
import { type MessageCodes, translateTexts } from './translate-texts.ts'
import { zhCN } from './zh-CN/index.ts'

afterEach(() => activate('en', en))

const codesOf = (...texts: string[]): MessageCodes => Object.fromEntries(texts.map((text) => [text, describeMessage(text)!]))

test.each([
  ['access', accessMessages],
  ['slurm', slurmMessages],
  ['slurmCheck', slurmCheckMessages],
  ['slurmOperation', slurmOperationMessages],
  ['power', powerMessages],
] as const)('has the texts of the server: %s', (area, messages) => {
  const values = new Proxy({}, { get: (_values, name) => `{${String(name)}}` })
  const texts = Object.entries(messages).map(([code, make]) => [code, (make as (values: object) => string)(values)])
  expect(Object.fromEntries(texts)).toEqual(en.server[area])
})

test('translates texts anywhere in a result, and leaves the others', () => {
  activate('zh-CN', zhCN)
  const text = slurmMessages.noController({ name: 'alps' })
  const data = { cluster: { name: 'alps', blockedReason: text, list: [{ message: text }, null, 3] } }
  const reason = '集群 alps 没有控制器节点。请选择一个。'
  expect(translateTexts(data, codesOf(text))).toEqual({
    cluster: { name: 'alps', blockedReason: reason, list: [{ message: reason }, null, 3] },
  })
  expect(translateTexts(data, { [text]: { code: 'slurm.other', params: {} } })).toEqual(data)
  expect(translateTexts(data, undefined)).toBe(data)
})

test('translates values that are texts themselves', () => {
  activate('zh-CN', zhCN)
  const inner = slurmCheckMessages.notInstalled()
  const outer = slurmMessages.otherCluster({ node: inner, name: 'alps' })
  expect(translateTexts(outer, codesOf(inner, outer))).toBe('节点 未安装 属于集群 alps。')
})
