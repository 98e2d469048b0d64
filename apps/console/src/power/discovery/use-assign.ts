'use client'
import { useState } from 'react'
import { useClient } from 'urql'
import { NodeByNameQuery } from '@/boot/unknown-machines/documents.ts'
import { toProblem, unwrap } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { AssignBmc, type AssignInput, type FoundBmc } from './documents.ts'

/** Requests at the same time. */
const LANES = 4

export type Assignment = { bmc: FoundBmc; nodeName: string }
/** Result by ID of the found BMC: null when it was assigned, or why it was not. */
export type AssignResults = ReadonlyMap<string, string | null>

/** Assigns found BMCs to nodes with one mutation each; a refused one does not stop the others. */
export function useAssign(settings: (bmc: FoundBmc) => Omit<AssignInput, 'nodeId' | 'address' | 'port' | 'systemPath'>) {
  const client = useClient()
  const [results, setResults] = useState<AssignResults>(new Map())
  const [isBusy, setBusy] = useState(false)

  async function findNode(name: string): Promise<string | null> {
    const { data } = await client.query(NodeByNameQuery, { name }, { requestPolicy: 'network-only' }).toPromise()
    return data?.computeNode?.id ?? null
  }
  async function assignOne({ bmc, nodeName }: Assignment): Promise<string | null> {
    const isMatch = bmc.node?.name === nodeName.trim()
    const nodeId = isMatch ? bmc.node!.id : await findNode(nodeName.trim())
    if (!nodeId) return t('unknownMachine.noNode', { name: nodeName.trim() })
    const { address, port, systemPath } = bmc
    const input: AssignInput = { nodeId, address, port, systemPath, ...settings(bmc) }
    const { data, error } = await client.mutation(AssignBmc, { input }).toPromise()
    if (!data) return error ? toProblem(error).message : t('bmcDiscovery.assignFailed')
    const outcome = unwrap(data)
    return outcome.ok ? null : outcome.problem.message
  }
  /** @returns the number of refused assignments */
  async function assign(list: readonly Assignment[]): Promise<number> {
    setBusy(true)
    const queue = [...list]
    const found = new Map(results)
    let refused = 0
    const lane = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const why = await assignOne(next)
        if (why !== null) refused++
        found.set(next.bmc.id, why)
        setResults(new Map(found))
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    setBusy(false)
    return refused
  }
  return { assign, results, isBusy }
}
