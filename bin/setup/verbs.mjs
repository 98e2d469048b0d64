import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { ansible, ansibleLint } from './ansible.mjs'
import { moto } from './moto.mjs'
import { openbao } from './openbao.mjs'
import { node, root, toolEnv } from './paths.mjs'
import { endChildren, StepFailed } from './step.mjs'
import { needs, systemPackages } from './system-packages.mjs'
import { dependencies, toolchain } from './toolchain.mjs'

/** Node, pnpm and node_modules: what every verb needs. */
const base = async () => {
  await toolchain()
  await dependencies()
}

/** The same and an Ansible, at the same time. Returns the environment that says where the Ansible is. */
const withAnsible = async (wanted) => {
  await systemPackages(needs[wanted])
  const parts = [base(), ansible(), wanted === 'test' ? ansibleLint() : undefined]
  const [, found, lint] = await Promise.all(parts).catch(async (error) => {
    endChildren()
    await Promise.allSettled(parts)
    throw error
  })
  return { ANSIBLE_PLAYBOOK: found.path, MUSTER_ANSIBLE_VERSION: found.version, ...(lint ? { MUSTER_ANSIBLE_LINT: lint } : {}) }
}

const bin = (name) => path.join(root, 'node_modules/.bin', name)

/** What `npm run VERB` does: set up what it needs, then hand over. Each returns the exit code. */
export const verbs = {
  start: async (args) => {
    const env = await withAnsible(args.includes('--lab') ? 'lab' : 'run')
    return await hand([node, 'apps/standalone/src/main.ts', ...args], {
      ...env,
      MUSTER_STARTED_AT: String(performance.timeOrigin),
    })
  },
  test: async (args) => {
    const env = await withAnsible('test')
    const bao = await openbao()
    return await hand([node, 'apps/standalone/src/run-tests.ts', ...args], {
      ...env,
      ...(await moto()),
      ...(bao ? { OPENBAO: bao } : {}),
    })
  },
  e2e: async (args) => hand([node, 'apps/standalone/src/run-tests.ts', '--e2e', ...args], await withAnsible('test')),
  'main-job': async (args) => hand([node, 'packages/bench/src/main-job.ts', ...args], await withAnsible('lab')),
  bench: async (args) => hand([node, 'packages/bench/src/main.ts', ...args], await withAnsible('lab')),
  dev: async (args) => hand([node, 'apps/standalone/src/main.ts', '--watch', ...args], await withAnsible('run')),
  lab: async (args) => {
    await base()
    return await hand([node, 'packages/lab/src/main.ts', ...args])
  },
  check: async (args) => {
    await base()
    return await hand([node, 'apps/standalone/src/check.ts', ...args])
  },
  gen: async () => {
    await base()
    return await hand([bin('turbo'), 'run', 'gen'])
  },
  /** The CLI, in the caller's folder: file names among its arguments are meant from there. */
  run: async (args) => {
    await base()
    return await hand([node, path.join(root, 'apps/cli/src/main.ts'), ...args], {}, process.cwd())
  },
}

/** What a signal to us does at the moment: ends the set-up, later reaches the program that we handed over to. */
export const signals = { handler: (_signal) => {} }

/**
 * Run the program that does the work with our terminal, and end as it ends. It gets a channel to us: when we are killed it closes,
 * and the program can tell.
 */
async function hand([program, ...args], extra = {}, cwd = root) {
  const isOurs = program === node
  if (isOurs && !fs.existsSync(path.resolve(root, args[0]))) {
    throw new StepFailed(`${args[0]} is missing`, { hint: 'This clone is not complete.' })
  }
  const child = spawn(program, args, {
    cwd,
    env: toolEnv(extra),
    stdio: isOurs ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  })
  // Ctrl-C at a terminal reaches the child by itself.
  signals.handler = (signal) => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal)
  if (process.env.npm_lifecycle_event) endWithParent(process.ppid)
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })
}

/** A killed npm tells nobody, but leaves us with another parent. */
function endWithParent(npm) {
  setInterval(() => process.ppid !== npm && signals.handler('SIGTERM'), 1000).unref()
}
