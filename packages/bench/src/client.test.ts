import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { failureMessages } from './agent-job.ts'
import { connect } from './client.ts'
import { CREATE_NODE_GROUP, RUN_HOSTS } from './documents.ts'

/** A client of a server that answers every request with `body`. */
async function clientOf(body: unknown, status = 200) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => null)
}
const create = (api: Awaited<ReturnType<typeof clientOf>>) => api.mutate(CREATE_NODE_GROUP, { input: { name: 'gpu' } })

test('a mutation returns its success type', async () => {
  const nodeGroup = { id: '1' }
  const api = await clientOf({ data: { createNodeGroup: { __typename: 'CreateNodeGroupPayload', nodeGroup } } })
  expect((await create(api)).nodeGroup).toEqual(nodeGroup)
})

test('a failing mutation throws the message and the issues of its result', async () => {
  const issues = [{ path: 'name', message: 'is taken' }]
  const error = { __typename: 'InvalidInputError', code: 'INVALID_INPUT', message: 'The input is invalid.', issues }
  await expect(create(await clientOf({ data: { createNodeGroup: error } }))).rejects.toThrow(
    'createNodeGroup: InvalidInputError: The input is invalid.; name is taken',
  )
})

test('GraphQL errors and other responses throw', async () => {
  await expect(create(await clientOf({ errors: [{ message: 'Unknown field.' }] }))).rejects.toThrow('Unknown field.')
  await expect(create(await clientOf('<h1>Bad gateway</h1>', 502))).rejects.toThrow('status 502 and no GraphQL response')
})

test('a failed run is reported with the messages of its hosts', async () => {
  const hosts = {
    edges: [
      { node: { name: 'gpu1', result: 'FAILED', message: 'No space left.' } },
      { node: { name: 'gpu2', result: 'OK', message: null } },
    ],
  }
  expect(await failureMessages(await clientOf({ data: { node: { __typename: 'JobRun', hosts } } }), '1')).toBe(
    'gpu1 FAILED No space left.',
  )
  await expect((await clientOf({ data: { node: null } })).request(RUN_HOSTS, { id: '1' })).resolves.toEqual({ node: null })
  await expect(failureMessages(await clientOf({ data: { node: null } }), '1')).rejects.toThrow('There is no run 1')
})
