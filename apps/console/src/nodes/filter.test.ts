import { expect, test } from 'vitest'
import { safePath } from '@/graphql/session.ts'
import { guessFormat } from '@/nodes/add/guess-format.ts'
import { isHostlist, toFilter, toOrder } from './filter.ts'

function filterOf(query: string) {
  const params = new URLSearchParams(query)
  return toFilter(
    (key) => params.get(key) ?? '',
    (key) => params.getAll(key),
  )
}

test('converts the URL query to filter and order', () => {
  expect(filterOf('')).toEqual({})
  expect(
    filterOf(
      'q=mi300&status=READY&status=NEW&device=AMD_GPU&health=UNHEALTHY&health=DEGRADED&alarm=1&agent=STALE&region=eu&rack=A1',
    ),
  ).toEqual({
    text: 'mi300',
    status: ['READY', 'NEW'],
    deviceType: ['AMD_GPU'],
    health: ['UNHEALTHY', 'DEGRADED'],
    agentState: ['STALE'],
    region: ['eu'],
    rack: ['A1'],
    hasHostKeyAlarm: true,
  })
  expect(filterOf('q=gpu[001-064]')).toEqual({ hostlist: 'gpu[001-064]' })
  expect(toOrder('-seen')).toEqual({ field: 'LAST_SEEN_AT', direction: 'DESC' })
  expect(toOrder('constructor')).toEqual({ field: 'NAME', direction: 'ASC' })
})

test('distinguishes hostlists from search texts', () => {
  expect(['gpu[01-04]', 'a1,a2', 'gpu[1,3-5].x'].map(isHostlist)).toEqual([true, true, true])
  expect(['gpu', 'rack 4', '10.1.2.3', '[fd00::7]'].map(isHostlist)).toEqual([false, false, false, false])
})

test('guesses the format of a pasted text', () => {
  expect(guessFormat('gpu[001-064]\n10.1.2.3')).toBe('LIST')
  expect(guessFormat('name,host,port\na,10.0.0.1,22')).toBe('CSV')
  expect(guessFormat('[gpus]\ngpu1 ansible_host=10.0.0.1')).toBe('INVENTORY')
  expect(guessFormat('all:\n  hosts:\n    gpu1:')).toBe('INVENTORY')
  expect(guessFormat('[fd00::7]:2222')).toBe('LIST')
})

test('the redirect after sign-in stays within the console', () => {
  expect(['/runs?status=FAILED', '/nodes/x'].map(safePath)).toEqual(['/runs?status=FAILED', '/nodes/x'])
  expect(['//evil.example', 'https://evil.example', '/\\evil.example', null].map(safePath)).toEqual([
    '/nodes',
    '/nodes',
    '/nodes',
    '/nodes',
  ])
})
