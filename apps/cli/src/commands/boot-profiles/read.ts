import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ago, isTable, printObject, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query BootProfileList($first: Int, $after: String) {
  bootProfiles(first: $first, after: $after) {
    edges { node { id name version parent { name } content { description arch kernel { url } } assignments { totalCount } updatedAt } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const bootProfileList = () =>
  new Command('list')
    .description('list boot profiles')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, page)).bootProfiles),
        [
          { title: 'NAME', value: (each) => each.name },
          { title: 'VERSION', value: (each) => each.version },
          { title: 'PARENT', value: (each) => each.parent?.name },
          { title: 'ARCH', value: (each) => each.content.arch },
          { title: 'ASSIGNMENTS', value: (each) => each.assignments.totalCount },
          { title: 'CHANGED', value: (each) => ago(each.updatedAt) },
          { title: 'KERNEL', value: (each) => each.content.kernel?.url, wide: true },
          { title: 'DESCRIPTION', value: (each) => each.content.description, wide: true },
        ],
        output,
        'No boot profiles yet. Create one with `muster boot-profile create`.',
      )
    })

export const RESOLVED = graphql(`fragment ResolvedOf on ResolvedBootProfile @_unmask {
  source { name version } chain { name version } arch kernel { url checksum } initrds { url checksum } rootImage { url checksum }
  kernelParams adminUser sshKeys userData vendorData networkConfig revision problems
  origins { field value isOverridden source { name version } }
}`)

const GET = graphql(
  `query BootProfileGet($name: String!) {
    bootProfile(name: $name) {
      id name version parent { name } updatedBy { name } updatedAt
      content {
        description arch kernel { url checksum } initrds { url checksum } rootImage { url checksum }
        kernelParams adminUser sshKeys userData vendorData networkConfig
      }
      resolved { ...ResolvedOf }
      assignments(first: 500) { totalCount edges { node { target priority node { name } group { name } } } }
    }
  }`,
  [RESOLVED],
)

/** @throws CliError there is none */
export async function readProfile(name: string) {
  const { bootProfile } = await request(GET, { name })
  if (!bootProfile) throw new CliError(`No boot profile named ${name}. See \`muster boot-profile list\`.`, EXIT.notFound)
  return bootProfile
}
export type Resolved = Awaited<ReturnType<typeof readProfile>>['resolved']

const image = ({ url, checksum }: { url: string; checksum: string | null }) => `${url}${checksum ? ` ${checksum}` : ''}`

/** Lines of a table with the values and the profiles that they come from. */
export function resolvedLines(resolved: Resolved): [string, string | null][] {
  const { name } = resolved.source
  const origin = (field: string, value?: string): string => {
    const from = resolved.origins.find(
      (each) => each.field === field && !each.isOverridden && (value === undefined || each.value === value),
    )
    return !from || from.source.name === name ? '' : ` (from ${from.source.name})`
  }
  const one = (field: string, text: string | null | undefined): string | null => (text ? text + origin(field) : null)
  const list = (field: string, values: string[]): [string, string][] =>
    values.map((value, i) => [i === 0 ? field : '', value + origin(TITLES[field]!, value)])
  const size = (field: 'userData' | 'vendorData', texts: string[]): string =>
    texts.map((text) => `${text.split('\n', 1)[0]}, ${Buffer.byteLength(text)} bytes${origin(field, text)}`).join('; ')
  return [
    ['arch', one('arch', resolved.arch)],
    ['kernel', resolved.kernel && one('kernel', image(resolved.kernel))],
    ['initrds', resolved.initrds.length > 0 ? resolved.initrds.map(image).join(', ') + origin('initrds') : null],
    ['root image', resolved.rootImage && one('rootImage', image(resolved.rootImage))],
    ...list('kernel parameters', resolved.kernelParams),
    ['admin user', one('adminUser', resolved.adminUser)],
    ...list('SSH keys', resolved.sshKeys),
    ['user-data', size('userData', resolved.userData)],
    ['vendor-data', size('vendorData', resolved.vendorData)],
    ['network-config', resolved.networkConfig && `${Buffer.byteLength(resolved.networkConfig)} bytes${origin('networkConfig')}`],
    ...resolved.problems.map((problem): [string, string] => ['problem', problem]),
  ]
}
const TITLES: Record<string, string> = { 'kernel parameters': 'kernelParams', 'SSH keys': 'sshKeys' }

type Target = { target: string; node: { name: string } | null; group: { name: string } | null; priority: number }
const targetText = ({ target, node, group, priority }: Target): string =>
  `${node?.name ?? (group ? `@${group.name}` : target === 'ALL_NODES' ? 'all nodes' : 'unknown machines')} (priority ${priority})`

export const bootProfileGet = () =>
  new Command('get')
    .description('show a boot profile with what it inherits, and what it is assigned to')
    .argument('<profile>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const profile = await readProfile(name)
      if (!isTable(output)) return printObject(profile, output)
      const { edges, totalCount } = profile.assignments
      const shown = edges.slice(0, 20).map(({ node }) => targetText(node))
      printObject(profile, output, [
        ['name', profile.name],
        ['version', profile.version],
        ['changed', `${ago(profile.updatedAt)} by ${profile.updatedBy.name}`],
        ['description', profile.content.description],
        ['parent', profile.parent?.name],
        ...resolvedLines(profile.resolved),
        ['assigned to', [...shown, ...(totalCount > shown.length ? [`${totalCount - shown.length} more`] : [])].join(', ')],
      ])
    })
