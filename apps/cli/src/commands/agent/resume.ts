import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'

export const agentResume = () =>
  new Command('resume')
    .description('take back a drain; nodes that Slurm drains stay so until Slurm resumes them')
    .argument('<hostlist>', 'which nodes')
    .action(async (hostlist: string) => {
      for (const { id, name } of await nodeIds(hostlist)) {
        const { resumeAgent } = await request(
          graphql(`mutation AgentResume($nodeId: ID!) {
            resumeAgent(nodeId: $nodeId) { __typename ... on Agent { state } ... on Error { code message } }
          }`),
          { nodeId: id },
        )
        process.stderr.write(`${name} is ${orThrow(resumeAgent).state}.\n`)
      }
    })
