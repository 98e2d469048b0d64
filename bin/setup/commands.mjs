import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { ansible, ansibleLint } from './ansible.mjs'
import { cloudInit, machines } from './machines.mjs'
import { openbao } from './openbao.mjs'
import { node, root, tool, toolEnv } from './paths.mjs'
import { sandbox } from './sandbox.mjs'
import { slurm } from './slurm.mjs'
import { killChildren, StepFailed } from './step.mjs'
import { benchNeeds, needs, systemPackages } from './system-packages.mjs'
import { testPackages } from './test-packages.mjs'
import { dependencies, toolchain } from './toolchain.mjs'

/** Installs Node, pnpm and node_modules, which every command needs. `scope` is 'product' for commands that only run the product. */
const installBase = async (scope = 'all') => {
  await toolchain()
  await dependencies(scope)
}

/** Installs the base and Ansible in parallel. Returns environment variables with the path of Ansible. */
const installWithAnsible = async (purpose, scope = 'all') => {
  await systemPackages(needs[purpose === 'slurm' ? 'lab' : purpose])
  if (purpose !== 'test') await sandbox()
  const withSlurm = purpose === 'test' || purpose === 'slurm'
  // One after the other: apt locks its lists.
  const labPrograms = async () => {
    if (withSlurm) await slurm()
    if (purpose === 'slurm' && scope === 'all') await machines()
  }
  const installs = [installBase(scope), ansible(), labPrograms()]
  const [, playbook] = await Promise.all(installs).catch(async (error) => {
    killChildren()
    await Promise.allSettled(installs)
    throw error
  })
  return {
    ANSIBLE_PLAYBOOK: playbook.path,
    MUSTER_ANSIBLE_VERSION: playbook.version,
  }
}

/** Installs what all tests need. Returns environment variables for them. */
async function installForTests(long) {
  const env = await installWithAnsible('test')
  if (long) await machines()
  if (long && process.getuid?.() === 0) await systemPackages(['postgres'])
  const [bao, packages, cloudInitPackages] = await Promise.all([openbao(), testPackages(long), long ? cloudInit() : undefined])
  return {
    ...env,
    ...packages,
    ...(bao ? { OPENBAO: bao } : {}),
    ...(cloudInitPackages ? { CLOUD_INIT_PACKAGES: cloudInitPackages } : {}),
  }
}

async function runFromCallersFolder(program, args) {
  await installBase('product')
  // bin/muster and bin/muster-admin skip the setup while this file is newer than the lockfile.
  const now = new Date()
  fs.utimesSync(path.join(tool, 'stamps/dependencies'), now, now)
  return await run([node, path.join(root, program), ...args], {}, process.cwd())
}

const bin = (name) => path.join(root, 'node_modules/.bin', name)

/** The commands behind `npm run COMMAND`: install what is needed, then run it. Each returns the exit code. */
export const commands = {
  start: async (args) => {
    const purpose = args.includes('--slurm') ? 'slurm' : args.includes('--lab') ? 'lab' : 'run'
    const env = await installWithAnsible(purpose, 'product')
    // Machines that boot from the network.
    if (args.includes('--lab') && args.includes('--boot')) await machines()
    return await run([node, 'apps/standalone/src/main.ts', ...args], {
      ...env,
      MUSTER_STARTED_AT: String(performance.timeOrigin),
    })
  },
  test: async (args) => run([node, 'apps/standalone/src/run-tests.ts', ...args], await installForTests(args.includes('--long'))),
  coverage: async (args) => run([node, 'apps/standalone/src/coverage/main.ts', ...args], await installForTests(true)),
  e2e: async (args) => run([node, 'apps/standalone/src/run-tests.ts', '--e2e', ...args], await installWithAnsible('test')),
  'main-job': async (args) => run([node, 'packages/bench/src/main-job.ts', ...args], await installWithAnsible('slurm')),
  bench: async (args) => {
    await systemPackages(benchNeeds[args[0]] ?? [])
    return await run(
      [node, 'packages/bench/src/main.ts', ...args],
      await installWithAnsible(args[0] === 'slurm' ? 'slurm' : 'lab'),
    )
  },
  dev: async (args) => run([node, 'apps/standalone/src/main.ts', '--watch', ...args], await installWithAnsible('run')),
  lab: async (args) => {
    await Promise.all([installBase('product'), args.includes('--slurm') ? slurm() : undefined])
    return await run([node, 'packages/lab/src/main.ts', ...args])
  },
  check: async (args) => {
    const [, lint] = await Promise.all([installBase(), ansibleLint()])
    const env = lint ? { MUSTER_ANSIBLE_LINT: lint } : {}
    return await run([node, 'apps/standalone/src/check/main.ts', ...args], env)
  },
  gen: async () => {
    await installBase()
    return await run([bin('turbo'), 'run', 'gen'])
  },
  /** The SBOM and the list of licenses, in dist. */
  sbom: async (args) => run([node, 'apps/standalone/src/release/sbom-main.ts', ...args], await installWithAnsible('run')),
  /** Prepares the commit of a release: `npm run release -- 0.3.0`. */
  release: async (args) => {
    await systemPackages(['postgres'])
    await installBase()
    return await run([node, 'apps/standalone/src/release/release-main.ts', ...args])
  },
  /** The CLI as an npm package and a single executable, in apps/cli/dist. */
  'build:cli': async (args) => {
    await installBase()
    return await run([node, 'apps/cli/packaging/build.ts', ...args])
  },
  /** The CLI and the maintenance commands, in the caller's working directory: their file arguments are relative to that. */
  cli: async (args) => await runFromCallersFolder('apps/cli/src/main.ts', args),
  admin: async (args) => await runFromCallersFolder('apps/standalone/src/admin/main.ts', args),
}

/** The current signal handler: aborts the setup at first, later forwards the signal to the started program. */
export const signals = { handler: (_signal) => {} }

/**
 * Runs a program with our terminal and returns its exit code. A Node program gets an IPC channel, which closes when this process is
 * killed, so that the program can exit too.
 */
async function run([program, ...args], extra = {}, cwd = root) {
  const isNode = program === node
  if (isNode && !fs.existsSync(path.resolve(root, args[0]))) {
    throw new StepFailed(`${args[0]} is missing`, { hint: 'This clone is incomplete; clone the repository again.' })
  }
  const child = spawn(program, args, {
    cwd,
    env: toolEnv(extra),
    stdio: isNode ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  })
  // The terminal sends Ctrl-C to the child directly.
  signals.handler = (signal) => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal)
  if (process.env.npm_lifecycle_event) exitWithParent(process.ppid)
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })
}

/** Stops when npm is killed, which is visible only as a changed parent pid. */
function exitWithParent(npm) {
  setInterval(() => process.ppid !== npm && signals.handler('SIGTERM'), 1000).unref()
}
