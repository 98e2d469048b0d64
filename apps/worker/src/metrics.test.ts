import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { alertMessages, registry } from './metrics.ts'

test('promtool accepts all metrics of a worker', async () => {
  alertMessages.reset()
  const output = await registry.metrics()
  expect(output).toContain('muster_worker_process_cpu_seconds_total')
  const promtool = spawn('promtool', ['check', 'metrics'])
  promtool.stdin.end(output)
  const ended = new Promise((resolve, reject) => promtool.once('error', reject).once('close', resolve))
  expect(await Promise.all([text(promtool.stdout), text(promtool.stderr), ended])).toEqual(['', '', 0])
})
