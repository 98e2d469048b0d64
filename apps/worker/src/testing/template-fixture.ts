import { existsSync } from 'node:fs'
import path from 'node:path'
import { downloadDeb } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { createPlaybookRunner, type PlaybookResult } from './playbook-runner.ts'
import { vendorRepository } from './vendor-repository.ts'

/** Whether the installing templates can run here: they need nodes in namespaces, and apt with its tools and Python module. */
export const canInstall =
  process.getuid?.() === 0 &&
  ['bin/apt-get', 'bin/dpkg-deb', 'bin/gpg', 'lib/python3/dist-packages/apt'].every((file) => existsSync(`/usr/${file}`))

const systems = {
  debian: 'NAME="Debian GNU/Linux"\nID=debian\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\n',
  ubuntu:
    'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"\nVERSION="22.04.5 LTS (Jammy Jellyfish)"\nVERSION_CODENAME=jammy\n',
}
const profiles = { h100: 'h100x8', mi300: 'mi300x8', max: 'max1550x4', npu: 'ascend910b3x8', cpu: 'cpu' } as const

/**
 * Nodes with the vendors' devices but without their tools, and repositories with the vendors' layout. The packages are stubs; apt, dpkg,
 * Ansible, SSH, reboots and node_exporter are real. A node's name is its hardware; with the suffix `-ubuntu` it reports Ubuntu 22.04
 * instead of Debian 12. Debian nodes have Debian's main component configured, as after a default installation.
 */
export async function createTemplateFixture(names: string[]) {
  const nodes = names.map((name) => ({ name, profile: profiles[name.split('-')[0] as keyof typeof profiles], tools: false }))
  const lab = await createLab({ nodes, mode: 'namespaces' })
  await Promise.all(
    lab.nodes.map((node) =>
      node.exec(['sh', '-c', 'rm -f /etc/os-release; cat > /etc/os-release'], {
        input: systems[node.name.endsWith('-ubuntu') ? 'ubuntu' : 'debian'],
      }),
    ),
  )
  const repository = await vendorRepository(lab, debOfNodeExporter)
  const keyring = '/usr/share/keyrings/distribution.asc'
  const sources = `Types: deb\nURIs: ${repository.url}/debian\nSuites: bookworm\nComponents: main\nSigned-By: ${keyring}\n`
  await Promise.all(
    lab.nodes
      .filter((node) => !node.name.endsWith('-ubuntu'))
      .flatMap((node) => [
        node.exec(['sh', '-c', `cat > ${keyring}`], { input: repository.key }),
        node.exec(['sh', '-c', 'cat > /etc/apt/sources.list.d/debian.sources'], { input: sources }),
      ]),
  )
  const ansible = createPlaybookRunner(lab)
  return {
    lab,
    repository,
    close: () => Promise.all([repository.close(), ansible.remove()]),
    play: ansible.play,
    /** Runs a shell command on a node and returns its output; throws when it fails. */
    on: async (node: string, command: string) => {
      const { code, stdout, stderr } = await lab.node(node).exec(['sh', '-c', command])
      if (code !== 0) throw new Error(`${command} ended with ${code} on ${node}: ${stderr}`)
      return stdout.trim()
    },
    /** State of a node that installations change, as text to compare. */
    state: async (node: string) =>
      (
        await lab
          .node(node)
          .exec([
            'sh',
            '-c',
            `cd / && dpkg-query -W | md5sum; find etc usr/share/keyrings usr/local var/cache opt run -xdev -newer /run/sshd.pid ! -path 'run/ansible*' ! -type d -print | sort`,
          ])
      ).stdout,
  }
}

/** Debian's package, cached between test runs; null without a reachable mirror. */
export const debOfNodeExporter = canInstall
  ? downloadDeb('prometheus-node-exporter', path.resolve(import.meta.dirname, '../../../../.tool/cache/apt'))
  : null

/** Number of changed tasks by host, or `failed`. */
export const changes = ({ recap }: PlaybookResult) =>
  Object.fromEntries(Object.entries(recap).map(([host, counts]) => [host, counts.failed ? 'failed' : counts.changed]))

/** Number of changed tasks by host of a successful play; throws with the end of its output otherwise. */
export function succeeded(played: PlaybookResult) {
  if (played.code !== 0) throw new Error(played.output.slice(-4000))
  return changes(played)
}
