import {
  isArgumentElement,
  isNumberElement,
  isPluralElement,
  isSelectElement,
  isTagElement,
  type MessageFormatElement,
  parse,
} from '@formatjs/icu-messageformat-parser'
import { expect, test } from 'vitest'
import { en } from './en/index.ts'
import { matchLanguage } from './language.ts'
import { zhCN } from './zh-CN/index.ts'

type Catalog = { readonly [key: string]: string | Catalog }

function flatten(catalog: Catalog, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(catalog).flatMap(([key, value]) =>
      typeof value === 'string' ? [[prefix + key, value]] : [...flatten(value, `${prefix}${key}.`)],
    ),
  )
}

/** The placeholders of a message with their kinds, such as `count:number name:text <time>`, in alphabetical order. */
function placeholders(message: string): string {
  const found = new Set<string>()
  function visit(elements: MessageFormatElement[]): void {
    for (const element of elements) {
      if (isArgumentElement(element)) found.add(`${element.value}:text`)
      if (isNumberElement(element)) found.add(`${element.value}:number`)
      if (isPluralElement(element)) found.add(`${element.value}:number`)
      if (isPluralElement(element) || isSelectElement(element))
        for (const option of Object.values(element.options)) visit(option.value)
      if (isTagElement(element)) {
        found.add(`<${element.value}>`)
        visit(element.children)
      }
    }
  }
  visit(parse(message))
  return [...found].sort().join(' ')
}

/** Names of products, protocols and commands, and examples to type. */
const keptInEnglish = new Set([
  'triggerSignature.GITHUB',
  'triggerSignature.MUSTER',
  'trigger.nodesExample',
  'trigger.url',
  'trigger.variableExample',
  'trigger.variablePath',
  'bmc.title',
  'bmc.uuid',
  'bmcDiscovery.addressesExample',
  'bmcDiscovery.fingerprint',
  'group.queryExample',
  'bootRule.systemUuids',
  'openchami.bss',
  'openchami.bssExample',
  'openchami.smd',
  'openchami.smdExample',
  'openchami.title',
  'openchami.token',
  'bmcProtocol.IPMI',
  'bmcProtocol.REDFISH',
  'bootField.networkConfig',
  'bootField.userData',
  'bootField.vendorData',
  'bootProfile.cloudInit',
  'slurmQuery.slurmrestd',
  'slurmrestd.name',
  'app.name',
  'tokens.usageExample',
  'connectionType.SSH',
  'deviceType.AMD_GPU',
  'deviceType.INTEL_GPU',
  'deviceType.NVIDIA_GPU',
  'nodes.agent',
  'filter.agent',
  'node.cpu',
  'node.slurm',
  'node.tabAgent',
  'accelerators.uuid',
  'preflight.ANSIBLE',
  'preflight.PYTHON',
  'preflight.SHELL',
  'secretStores.auth.APP_ROLE',
  'secretStores.kind.AWS_SECRETS_MANAGER',
  'secretStores.secret.APP_ROLE',
  'import.example',
  'importFormat.CSV',
  'fleet.by.cpu',
  'agent.agentId',
  'agent.cpu',
  'agent.title',
  'auditActor.SYSTEM',
  'auditChannel.AGENT',
  'auditChannel.API',
  'auditChannel.SYSTEM',
  'enroll.agentId',
  'routeKind.SLACK',
  'routeKind.WEBHOOK',
  'smtpSecurity.STARTTLS',
  'smtpSecurity.TLS',
  'routes.url',
  'credential.sudo',
  'runs.diffMode',
  'runs.limitExample',
  'nav.slurm',
  'slurm.clusterName',
  'slurmConnect.slurmTitle',
  'slurmQuery.munge',
  'slurmNode.slurmd',
  'slurmJob.qos',
  'run.playbook',
  'artifacts.sha256',
])

/** How a translation differs from English: missing and extra keys, other placeholders. */
function differences(english: Catalog, translation: Catalog): string[] {
  const [source, target] = [flatten(english), flatten(translation)]
  return [
    ...[...source.keys()].filter((key) => !target.has(key)).map((key) => `missing ${key}`),
    ...[...target.keys()].filter((key) => !source.has(key)).map((key) => `extra ${key}`),
    ...[...source].flatMap(([key, message]) => {
      const translated = target.get(key)
      return translated !== undefined && placeholders(translated) !== placeholders(message) ? [`placeholders ${key}`] : []
    }),
  ]
}

test('the Chinese catalog has the keys and placeholders of the English one', () => {
  expect(flatten(en).size).toBeGreaterThan(700)
  expect(differences(en, zhCN)).toEqual([])
})

test('every Chinese message with words is translated', () => {
  const source = flatten(en)
  const words = (message: string) => message.replace(/\{[^}]*\}/g, '').match(/\p{L}{3,}/gu) ?? []
  const untranslated = [...flatten(zhCN)].filter(([key, message]) => source.get(key) === message && words(message).length > 0)
  expect(untranslated.map(([key]) => key).filter((key) => !keptInEnglish.has(key))).toEqual([])
})

test('finds missing and extra keys and changed placeholders', () => {
  const english = { a: '{count, plural, one {# node} other {# nodes}}', b: 'by {name} <time></time>', c: { d: 'text' } }
  expect(differences(english, { a: '{count, number}', b: '{name} <time></time>', c: { d: '文' } })).toEqual([])
  expect(differences(english, { a: '{count} 个', b: '{name}', e: 'x' })).toEqual([
    'missing c.d',
    'extra e',
    'placeholders a',
    'placeholders b',
  ])
})

test('a browser that prefers Chinese gets Chinese', () => {
  expect([['zh-CN', 'en'], ['zh'], ['zh-Hant-TW']].map(matchLanguage)).toEqual(['zh-CN', 'zh-CN', 'zh-CN'])
  expect([['en-US', 'zh-CN'], ['de'], ['zha'], []].map(matchLanguage)).toEqual(['en', 'en', 'en', 'en'])
})
