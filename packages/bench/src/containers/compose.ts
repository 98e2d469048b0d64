import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { vi } from 'vitest'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const { PODMAN_COMPOSE = '', TEST_PYTHON = 'python3' } = process.env

/** Images that .ci/long builds. */
const IMAGES = ['muster-api', 'muster-worker', 'muster-console', 'muster-base/postgres']

/** Why the services cannot be started on this machine; null when they can. */
export async function unavailableReason(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'needs root'
  if (!PODMAN_COMPOSE) return 'needs podman-compose'
  const missing: string[] = []
  for (const image of IMAGES) await run('podman', ['image', 'exists', `localhost/${image}`]).catch(() => missing.push(image))
  return missing.length ? `needs the images ${missing.join(', ')}; .ci/long builds them` : null
}

/** What podman reports about a container. */
export type Inspected = {
  State: { Status: string; ExitCode: number }
  EffectiveCaps: string[] | null
  HostConfig: { ReadonlyRootfs: boolean; Memory: number; NanoCpus: number; PidsLimit: number; SecurityOpt: string[] }
  NetworkSettings: { Networks: Record<string, unknown> }
  Config: { Env: string[]; User: string }
}

/**
 * The services of docker-compose.yml as containers, started with podman-compose one by one: older versions of podman cannot wait for
 * the conditions of `depends_on`, and have no timer for health checks without systemd.
 */
export class Compose {
  private readonly project = `muster-test-${process.pid}`
  private readonly envFile: string

  /** @param envFile the settings, as in .env */
  constructor(envFile: string) {
    this.envFile = envFile
  }

  private async podman(...args: string[]): Promise<string> {
    return (await run('podman', args, { env: { ...process.env, ...CONFIG }, maxBuffer: 1e8 })).stdout
  }

  private async compose(...args: string[]): Promise<string> {
    const all = [`${PODMAN_COMPOSE}/podman_compose.py`, '-p', this.project, '--in-pod=false', '--env-file', this.envFile, ...args]
    const env = { ...process.env, ...CONFIG, PYTHONPATH: PODMAN_COMPOSE }
    return (await run(TEST_PYTHON, all, { cwd: ROOT, env, maxBuffer: 1e8 })).stdout
  }

  private nameOf(service: string): string {
    return `${this.project}_${service}_1`
  }

  /** Starts a service and waits until it is healthy. @throws Error with its log when it does not become healthy */
  async start(service: string): Promise<void> {
    await this.compose('up', '--detach', '--no-build', '--no-deps', service)
    await this.untilHealthy(service)
  }

  /** Starts a service again with changed settings. */
  async recreate(service: string): Promise<void> {
    await this.compose('up', '--detach', '--no-build', '--no-deps', '--force-recreate', service)
  }

  /** Waits until the service's own health check succeeds. */
  async untilHealthy(service: string): Promise<void> {
    try {
      await vi.waitFor(() => this.podman('healthcheck', 'run', this.nameOf(service)), { timeout: 120_000, interval: 500 })
    } catch {
      throw new Error(`${service} is not healthy:\n${await this.log(service)}`)
    }
  }

  /** Runs a service to its end. @throws Error with its log when it fails */
  async complete(service: string): Promise<void> {
    await this.compose('up', '--detach', '--no-build', '--no-deps', service)
    const code = await this.podman('wait', this.nameOf(service))
    if (code.trim() !== '0') throw new Error(`${service} ended with ${code.trim()}:\n${await this.log(service)}`)
  }

  /** Runs a service's program once with arguments, as `docker compose run --rm` does. @returns its output */
  async once(service: string, ...args: string[]): Promise<string> {
    return await this.compose('--profile', service, 'run', '--rm', '--no-deps', '-T', service, ...args)
  }

  /** stdout and stderr of a service. */
  async log(service: string): Promise<string> {
    const { stdout, stderr } = await run('podman', ['logs', this.nameOf(service)], { env: { ...process.env, ...CONFIG } })
    return stdout + stderr
  }

  async exec(service: string, ...argv: string[]): Promise<string> {
    return await this.podman('exec', this.nameOf(service), ...argv)
  }

  async inspect(service: string): Promise<Inspected> {
    return (JSON.parse(await this.podman('inspect', this.nameOf(service))) as [Inspected])[0]
  }

  /** Names of the networks, without the project. */
  async networks(service: string): Promise<string[]> {
    const { NetworkSettings } = await this.inspect(service)
    return Object.keys(NetworkSettings.Networks).map((name) => name.slice(this.project.length + 1))
  }

  /** Stops the services with SIGTERM. */
  async stop(...services: string[]): Promise<void> {
    for (const service of services) await this.podman('stop', '--time', '60', this.nameOf(service))
  }

  /** Removes containers, networks and volumes. */
  async remove(): Promise<void> {
    await this.compose('--profile', 'admin', 'down', '--volumes', '--timeout', '5')
  }
}

/** .ci/containers.conf on machines with cgroups v1, which crun and podman's defaults do not support. */
const CONFIG: NodeJS.ProcessEnv = usesOnlyCgroups2() ? {} : { CONTAINERS_CONF: `${ROOT}.ci/containers.conf` }

function usesOnlyCgroups2(): boolean {
  return !/ cgroup /.test(readFileSync('/proc/self/mountinfo', 'utf8').replaceAll(' cgroup2 ', ' '))
}
