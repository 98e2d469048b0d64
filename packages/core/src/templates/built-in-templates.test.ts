import { expect, test } from 'vitest'
import { BUILT_IN_TEMPLATES } from './built-in-templates.ts'
import { fillIn, inputSchemaIssues } from './input-schema.ts'

const withInputs = BUILT_IN_TEMPLATES.flatMap(({ name, ...rest }) =>
  'inputSchema' in rest ? [{ name, schema: rest.inputSchema }] : [],
)

test.each(withInputs)('$name describes its inputs, and its examples are valid', ({ schema }) => {
  expect(inputSchemaIssues(schema)).toEqual([])
  const all = Object.entries(schema.properties as Record<string, { examples: unknown[]; 'x-secret'?: true }>)
  const properties = all.filter(([, { 'x-secret': isSecret }]) => !isSecret)
  const examples = Object.fromEntries(properties.map(([name, { examples }]) => [name, examples[0]]))
  expect(fillIn(schema, examples)).toEqual(examples)
  // No defaults: they would override the variables of groups and nodes.
  expect(fillIn(schema, {})).toEqual({})
})

test.each([
  ['install_nvidia_driver', { nvidia_driver_version: 'latest' }, 'nvidia_driver_version'],
  ['install_nvidia_driver', { nvidia_driver_module: 'ajar' }, 'nvidia_driver_module'],
  ['install_nvidia_driver', { nvidia_version: '535' }, 'nvidia_version'],
  ['install_amd_driver', { amd_driver_repository_url: 'repo.radeon.com' }, 'amd_driver_repository_url'],
  ['deploy_dcgm_exporter', { dcgm_exporter_port: 65_536 }, 'dcgm_exporter_port'],
  ['deploy_node_exporter', { node_exporter_arguments: ['--a; rm -rf /'] }, 'node_exporter_arguments.0'],
  ['deploy_muster_agent', { muster_agent_api_url: 'muster.example.org' }, 'muster_agent_api_url'],
])('%s rejects %j', (template, vars, path) => {
  const { schema } = withInputs.find(({ name }) => name === template)!
  expect(() => fillIn(schema, vars)).toThrow(
    expect.objectContaining({ issues: [expect.objectContaining({ path: `extraVars.${path}` })] }),
  )
})
