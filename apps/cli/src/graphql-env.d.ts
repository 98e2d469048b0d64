/* eslint-disable */
/* prettier-ignore */

export type introspection_types = {
  Accelerator: {
    kind: 'OBJECT'
    name: 'Accelerator'
    fields: {
      computeCapability: { name: 'computeCapability'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      confidence: {
        name: 'confidence'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      deviceType: {
        name: 'deviceType'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'DeviceType'; ofType: null } }
      }
      driverVersion: { name: 'driverVersion'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      eccErrors: { name: 'eccErrors'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      eccMode: { name: 'eccMode'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      firmwareVersion: { name: 'firmwareVersion'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      firstSeenAt: {
        name: 'firstSeenAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      health: {
        name: 'health'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'AcceleratorHealth'; ofType: null } }
      }
      healthReason: { name: 'healthReason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      index: { name: 'index'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      interconnect: { name: 'interconnect'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      isMemoryUnified: {
        name: 'isMemoryUnified'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      lastSeenAt: {
        name: 'lastSeenAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      memoryTotal: { name: 'memoryTotal'; type: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      memoryUsed: { name: 'memoryUsed'; type: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      model: { name: 'model'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      }
      numaNode: { name: 'numaNode'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      partitionMode: { name: 'partitionMode'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      partitions: {
        name: 'partitions'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'AcceleratorPartition'; ofType: null } }
          }
        }
      }
      pciAddress: { name: 'pciAddress'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      power: { name: 'power'; type: { kind: 'SCALAR'; name: 'Float'; ofType: null } }
      serial: { name: 'serial'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      slot: { name: 'slot'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      source: {
        name: 'source'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'AcceleratorSource'; ofType: null } }
      }
      temperature: { name: 'temperature'; type: { kind: 'SCALAR'; name: 'Float'; ofType: null } }
      toolkitVersion: { name: 'toolkitVersion'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      utilization: { name: 'utilization'; type: { kind: 'SCALAR'; name: 'Float'; ofType: null } }
      uuid: { name: 'uuid'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      vendor: {
        name: 'vendor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  AcceleratorConnection: {
    kind: 'OBJECT'
    name: 'AcceleratorConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'AcceleratorEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  AcceleratorEdge: {
    kind: 'OBJECT'
    name: 'AcceleratorEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Accelerator'; ofType: null } }
      }
    }
  }
  AcceleratorFilter: {
    kind: 'INPUT_OBJECT'
    name: 'AcceleratorFilter'
    isOneOf: false
    inputFields: [
      {
        name: 'deviceType'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'DeviceType'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'health'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'AcceleratorHealth'; ofType: null } }
        }
        defaultValue: null
      },
      { name: 'model'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'nodeId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      {
        name: 'vendor'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
    ]
  }
  AcceleratorHealth: { name: 'AcceleratorHealth'; enumValues: 'CRITICAL' | 'LOST' | 'OK' | 'UNKNOWN' | 'WARNING' }
  AcceleratorPartition: {
    kind: 'OBJECT'
    name: 'AcceleratorPartition'
    fields: {
      index: { name: 'index'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      kind: { name: 'kind'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      memoryTotal: { name: 'memoryTotal'; type: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      parentUuid: { name: 'parentUuid'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      profile: { name: 'profile'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      uuid: { name: 'uuid'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
    }
  }
  AcceleratorSource: { name: 'AcceleratorSource'; enumValues: 'PCI' | 'TOOL' }
  AcceleratorSummary: {
    kind: 'OBJECT'
    name: 'AcceleratorSummary'
    fields: {
      count: { name: 'count'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      deviceType: {
        name: 'deviceType'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'DeviceType'; ofType: null } }
      }
      memoryTotal: { name: 'memoryTotal'; type: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      model: { name: 'model'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      worstHealth: {
        name: 'worstHealth'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'AcceleratorHealth'; ofType: null } }
      }
    }
  }
  AddNodeInput: {
    kind: 'INPUT_OBJECT'
    name: 'AddNodeInput'
    isOneOf: false
    inputFields: [
      { name: 'bastionId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'becomeCredentialId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'connectionType'; type: { kind: 'ENUM'; name: 'ConnectionType'; ofType: null }; defaultValue: null },
      { name: 'credentialId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'displayName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'host'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      { name: 'hostKey'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'labels'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null }; defaultValue: null },
      {
        name: 'name'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      { name: 'nodeType'; type: { kind: 'ENUM'; name: 'NodeType'; ofType: null }; defaultValue: null },
      { name: 'notes'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'sshUser'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'tags'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
    ]
  }
  AddNodeResult: {
    kind: 'UNION'
    name: 'AddNodeResult'
    fields: {}
    possibleTypes:
      | 'ComputeNode'
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  ApiToken: {
    kind: 'OBJECT'
    name: 'ApiToken'
    fields: {
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      expiresAt: { name: 'expiresAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      lastUsedAt: { name: 'lastUsedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      prefix: {
        name: 'prefix'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      revokedAt: { name: 'revokedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      role: { name: 'role'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'Role'; ofType: null } } }
    }
  }
  ApiTokenConnection: {
    kind: 'OBJECT'
    name: 'ApiTokenConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ApiTokenEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  ApiTokenEdge: {
    kind: 'OBJECT'
    name: 'ApiTokenEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: { name: 'node'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ApiToken'; ofType: null } } }
    }
  }
  ApproveHostKeysResult: {
    kind: 'UNION'
    name: 'ApproveHostKeysResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'HostKeyApprovalReport'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  BecomeMethod: { name: 'BecomeMethod'; enumValues: 'SU' | 'SUDO' }
  BigInt: unknown
  Boolean: unknown
  CancelJobRunResult: {
    kind: 'UNION'
    name: 'CancelJobRunResult'
    fields: {}
    possibleTypes: 'ConflictError' | 'ForbiddenError' | 'JobRun' | 'NotFoundError' | 'UnauthenticatedError'
  }
  ComputeNode: {
    kind: 'OBJECT'
    name: 'ComputeNode'
    fields: {
      acceleratorSummary: {
        name: 'acceleratorSummary'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'AcceleratorSummary'; ofType: null } }
          }
        }
      }
      accelerators: {
        name: 'accelerators'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Accelerator'; ofType: null } }
          }
        }
      }
      arch: { name: 'arch'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      bastion: { name: 'bastion'; type: { kind: 'OBJECT'; name: 'Credential'; ofType: null } }
      becomeCredential: { name: 'becomeCredential'; type: { kind: 'OBJECT'; name: 'Credential'; ofType: null } }
      bootId: { name: 'bootId'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      bootedAt: { name: 'bootedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      connectionType: {
        name: 'connectionType'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ConnectionType'; ofType: null } }
      }
      cpuCores: { name: 'cpuCores'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      cpuModel: { name: 'cpuModel'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      cpuSockets: { name: 'cpuSockets'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      cpuThreads: { name: 'cpuThreads'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      credential: { name: 'credential'; type: { kind: 'OBJECT'; name: 'Credential'; ofType: null } }
      discoveredAt: { name: 'discoveredAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      discoveries: {
        name: 'discoveries'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'DiscoveryConnection'; ofType: null } }
      }
      displayName: { name: 'displayName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      facts: { name: 'facts'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      groups: {
        name: 'groups'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'NodeGroup'; ofType: null } }
          }
        }
      }
      host: { name: 'host'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      hostKeyAlarm: { name: 'hostKeyAlarm'; type: { kind: 'OBJECT'; name: 'HostKeyAlarm'; ofType: null } }
      hostKeyApprovedAt: { name: 'hostKeyApprovedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      hostKeyFingerprint: { name: 'hostKeyFingerprint'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      kernel: { name: 'kernel'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      labels: { name: 'labels'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'JSON'; ofType: null } } }
      lastSeenAt: { name: 'lastSeenAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      latestConnectionTest: { name: 'latestConnectionTest'; type: { kind: 'OBJECT'; name: 'ConnectionTest'; ofType: null } }
      latestDiscovery: { name: 'latestDiscovery'; type: { kind: 'OBJECT'; name: 'Discovery'; ofType: null } }
      memoryBytes: { name: 'memoryBytes'; type: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      nodeType: {
        name: 'nodeType'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'NodeType'; ofType: null } }
      }
      notes: { name: 'notes'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      osId: { name: 'osId'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      osName: { name: 'osName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      osVersion: { name: 'osVersion'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      port: { name: 'port'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      purgeBlockedReason: { name: 'purgeBlockedReason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      runs: {
        name: 'runs'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunConnection'; ofType: null } }
      }
      sshUser: { name: 'sshUser'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      status: {
        name: 'status'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'NodeStatus'; ofType: null } }
      }
      statusReason: { name: 'statusReason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      tags: {
        name: 'tags'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
          }
        }
      }
      updatedAt: {
        name: 'updatedAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      writeBlockedReason: { name: 'writeBlockedReason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
    }
  }
  ComputeNodeConnection: {
    kind: 'OBJECT'
    name: 'ComputeNodeConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNodeEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  ComputeNodeEdge: {
    kind: 'OBJECT'
    name: 'ComputeNodeEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      }
    }
  }
  ConflictError: {
    kind: 'OBJECT'
    name: 'ConflictError'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  ConnectionTest: {
    kind: 'OBJECT'
    name: 'ConnectionTest'
    fields: {
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      error: { name: 'error'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      finishedAt: { name: 'finishedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      isOk: { name: 'isOk'; type: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      }
      stages: {
        name: 'stages'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PreflightStage'; ofType: null } }
          }
        }
      }
      startedAt: { name: 'startedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
    }
  }
  ConnectionType: { name: 'ConnectionType'; enumValues: 'LOCAL' | 'SSH' }
  CreateApiTokenInput: {
    kind: 'INPUT_OBJECT'
    name: 'CreateApiTokenInput'
    isOneOf: false
    inputFields: [
      { name: 'expiresInDays'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      {
        name: 'name'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'role'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'Role'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  CreateApiTokenResult: {
    kind: 'UNION'
    name: 'CreateApiTokenResult'
    fields: {}
    possibleTypes: 'CreatedApiToken' | 'ForbiddenError' | 'InvalidInputError' | 'UnauthenticatedError'
  }
  CreateCredentialInput: {
    kind: 'INPUT_OBJECT'
    name: 'CreateCredentialInput'
    isOneOf: false
    inputFields: [
      { name: 'becomeMethod'; type: { kind: 'ENUM'; name: 'BecomeMethod'; ofType: null }; defaultValue: null },
      { name: 'description'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'kind'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'CredentialKind'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'name'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      { name: 'passphrase'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'password'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'privateKey'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'username'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'viaId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
    ]
  }
  CreateCredentialResult: {
    kind: 'UNION'
    name: 'CreateCredentialResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'Credential'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  CreateNodeGroupResult: {
    kind: 'UNION'
    name: 'CreateNodeGroupResult'
    fields: {}
    possibleTypes: 'ConflictError' | 'ForbiddenError' | 'InvalidInputError' | 'NodeGroup' | 'UnauthenticatedError'
  }
  CreatedApiToken: {
    kind: 'OBJECT'
    name: 'CreatedApiToken'
    fields: {
      apiToken: {
        name: 'apiToken'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ApiToken'; ofType: null } }
      }
      token: { name: 'token'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
    }
  }
  Credential: {
    kind: 'OBJECT'
    name: 'Credential'
    fields: {
      becomeMethod: { name: 'becomeMethod'; type: { kind: 'ENUM'; name: 'BecomeMethod'; ofType: null } }
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      description: {
        name: 'description'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      host: { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      hostKeyApprovedAt: { name: 'hostKeyApprovedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      hostKeyFingerprint: { name: 'hostKeyFingerprint'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      kind: {
        name: 'kind'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'CredentialKind'; ofType: null } }
      }
      lastUsedAt: { name: 'lastUsedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      nodeCount: {
        name: 'nodeCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      offeredHostKeyFingerprint: { name: 'offeredHostKeyFingerprint'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      port: { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      publicKey: { name: 'publicKey'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      secretsSet: {
        name: 'secretsSet'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
          }
        }
      }
      updatedAt: {
        name: 'updatedAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      username: { name: 'username'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      via: { name: 'via'; type: { kind: 'OBJECT'; name: 'Credential'; ofType: null } }
    }
  }
  CredentialConnection: {
    kind: 'OBJECT'
    name: 'CredentialConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'CredentialEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  CredentialEdge: {
    kind: 'OBJECT'
    name: 'CredentialEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Credential'; ofType: null } }
      }
    }
  }
  CredentialKind: { name: 'CredentialKind'; enumValues: 'BASTION' | 'BECOME' | 'SSH_KEY' | 'SSH_PASSWORD' }
  DateTime: unknown
  DecommissionNodeResult: {
    kind: 'UNION'
    name: 'DecommissionNodeResult'
    fields: {}
    possibleTypes: 'ComputeNode' | 'ConflictError' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  DeleteCredentialResult: {
    kind: 'UNION'
    name: 'DeleteCredentialResult'
    fields: {}
    possibleTypes: 'ConflictError' | 'Deleted' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  DeleteNodeGroupResult: {
    kind: 'UNION'
    name: 'DeleteNodeGroupResult'
    fields: {}
    possibleTypes: 'ConflictError' | 'Deleted' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  Deleted: {
    kind: 'OBJECT'
    name: 'Deleted'
    fields: { id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } } }
  }
  DeviceType: { name: 'DeviceType'; enumValues: 'AMD_GPU' | 'HUAWEI_NPU' | 'INTEL_GPU' | 'NVIDIA_GPU' | 'OTHER' | 'THEAD_NPU' }
  DiscoverNodesResult: {
    kind: 'UNION'
    name: 'DiscoverNodesResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'StartedDiscoveries'
      | 'UnauthenticatedError'
  }
  Discovery: {
    kind: 'OBJECT'
    name: 'Discovery'
    fields: {
      acceleratorCount: {
        name: 'acceleratorCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      durationMs: { name: 'durationMs'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      error: { name: 'error'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      evidence: { name: 'evidence'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      finishedAt: { name: 'finishedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      }
      reason: {
        name: 'reason'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'DiscoveryReason'; ofType: null } }
      }
      result: { name: 'result'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      startedAt: { name: 'startedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      status: {
        name: 'status'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'DiscoveryStatus'; ofType: null } }
      }
      tools: {
        name: 'tools'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ToolReport'; ofType: null } }
          }
        }
      }
      warnings: {
        name: 'warnings'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
          }
        }
      }
    }
  }
  DiscoveryChange: {
    kind: 'OBJECT'
    name: 'DiscoveryChange'
    fields: {
      after: { name: 'after'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      before: { name: 'before'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      kind: { name: 'kind'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      label: { name: 'label'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      path: { name: 'path'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
    }
  }
  DiscoveryConnection: {
    kind: 'OBJECT'
    name: 'DiscoveryConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'DiscoveryEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  DiscoveryEdge: {
    kind: 'OBJECT'
    name: 'DiscoveryEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: { name: 'node'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Discovery'; ofType: null } } }
    }
  }
  DiscoveryReason: { name: 'DiscoveryReason'; enumValues: 'ONBOARDING' | 'REFRESH' | 'RUN' | 'SWEEP' }
  DiscoveryStatus: { name: 'DiscoveryStatus'; enumValues: 'FAILED' | 'PENDING' | 'RUNNING' | 'SUCCEEDED' }
  Error: {
    kind: 'INTERFACE'
    name: 'Error'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'UnauthenticatedError'
      | 'UnavailableError'
  }
  ErrorCode: {
    name: 'ErrorCode'
    enumValues: 'CONFLICT' | 'FORBIDDEN' | 'INVALID_INPUT' | 'NOT_FOUND' | 'UNAUTHENTICATED' | 'UNAVAILABLE'
  }
  Facet: {
    kind: 'OBJECT'
    name: 'Facet'
    fields: {
      count: { name: 'count'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      value: { name: 'value'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
    }
  }
  Float: unknown
  ForbiddenError: {
    kind: 'OBJECT'
    name: 'ForbiddenError'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  HostKeyAlarm: {
    kind: 'OBJECT'
    name: 'HostKeyAlarm'
    fields: {
      isChanged: {
        name: 'isChanged'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      offeredAt: {
        name: 'offeredAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      offeredFingerprint: {
        name: 'offeredFingerprint'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      pinnedFingerprint: { name: 'pinnedFingerprint'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
    }
  }
  HostKeyApproval: {
    kind: 'INPUT_OBJECT'
    name: 'HostKeyApproval'
    isOneOf: false
    inputFields: [
      {
        name: 'fingerprint'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'id'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  HostKeyApprovalReport: {
    kind: 'OBJECT'
    name: 'HostKeyApprovalReport'
    fields: {
      credentials: {
        name: 'credentials'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Credential'; ofType: null } }
          }
        }
      }
      nodes: {
        name: 'nodes'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
          }
        }
      }
    }
  }
  HostResult: {
    name: 'HostResult'
    enumValues: 'CHANGED' | 'FAILED' | 'NOT_RUN' | 'OK' | 'PENDING' | 'RUNNING' | 'SKIPPED' | 'UNREACHABLE'
  }
  HostSummary: {
    kind: 'OBJECT'
    name: 'HostSummary'
    fields: {
      count: { name: 'count'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      hostlist: {
        name: 'hostlist'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      result: {
        name: 'result'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'HostResult'; ofType: null } }
      }
    }
  }
  ID: unknown
  ImportFormat: { name: 'ImportFormat'; enumValues: 'CSV' | 'INVENTORY' | 'LIST' }
  ImportNodesResult: {
    kind: 'UNION'
    name: 'ImportNodesResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NodeImportReport'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  InputIssue: {
    kind: 'OBJECT'
    name: 'InputIssue'
    fields: {
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      path: { name: 'path'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
    }
  }
  Int: unknown
  InvalidInputError: {
    kind: 'OBJECT'
    name: 'InvalidInputError'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      issues: {
        name: 'issues'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'InputIssue'; ofType: null } }
          }
        }
      }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  JSON: unknown
  JobRun: {
    kind: 'OBJECT'
    name: 'JobRun'
    fields: {
      become: {
        name: 'become'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      cancelBlockedReason: { name: 'cancelBlockedReason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      cancelRequestedAt: { name: 'cancelRequestedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      cancelRequestedByName: { name: 'cancelRequestedByName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      checkMode: {
        name: 'checkMode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      createdByName: {
        name: 'createdByName'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      diffMode: {
        name: 'diffMode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      durationMs: { name: 'durationMs'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      events: {
        name: 'events'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunEvent'; ofType: null } }
          }
        }
      }
      execAt: { name: 'execAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      exitCode: { name: 'exitCode'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      extraVars: {
        name: 'extraVars'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      }
      finishedAt: { name: 'finishedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      forks: { name: 'forks'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      hostSummary: {
        name: 'hostSummary'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'HostSummary'; ofType: null } }
          }
        }
      }
      hosts: {
        name: 'hosts'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunHost'; ofType: null } }
          }
        }
      }
      hostsFailed: {
        name: 'hostsFailed'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      hostsOk: { name: 'hostsOk'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      hostsTotal: {
        name: 'hostsTotal'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      hostsUnreachable: {
        name: 'hostsUnreachable'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      lastSeq: {
        name: 'lastSeq'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      }
      limit: { name: 'limit'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      lineCount: {
        name: 'lineCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      }
      midTaskHosts: {
        name: 'midTaskHosts'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
          }
        }
      }
      playbookPath: {
        name: 'playbookPath'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      reason: { name: 'reason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      startedAt: { name: 'startedAt'; type: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      status: {
        name: 'status'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'JobRunStatus'; ofType: null } }
      }
      statusReason: { name: 'statusReason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      template: {
        name: 'template'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobTemplate'; ofType: null } }
      }
      templateName: {
        name: 'templateName'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      timeoutSeconds: {
        name: 'timeoutSeconds'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      verbosity: {
        name: 'verbosity'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  JobRunConnection: {
    kind: 'OBJECT'
    name: 'JobRunConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  JobRunEdge: {
    kind: 'OBJECT'
    name: 'JobRunEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: { name: 'node'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRun'; ofType: null } } }
    }
  }
  JobRunEvent: {
    kind: 'OBJECT'
    name: 'JobRunEvent'
    fields: {
      action: { name: 'action'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      createdAt: {
        name: 'createdAt'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'DateTime'; ofType: null } }
      }
      durationMs: { name: 'durationMs'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      host: { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      isChanged: { name: 'isChanged'; type: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      kind: { name: 'kind'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      lineCount: {
        name: 'lineCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      play: { name: 'play'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      result: { name: 'result'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      seq: { name: 'seq'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } } }
      startLine: {
        name: 'startLine'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      }
      stdout: { name: 'stdout'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      task: { name: 'task'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
    }
  }
  JobRunEventBatch: {
    kind: 'OBJECT'
    name: 'JobRunEventBatch'
    fields: {
      events: {
        name: 'events'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunEvent'; ofType: null } }
          }
        }
      }
      lastSeq: {
        name: 'lastSeq'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'BigInt'; ofType: null } }
      }
      run: { name: 'run'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRun'; ofType: null } } }
    }
  }
  JobRunFilter: {
    kind: 'INPUT_OBJECT'
    name: 'JobRunFilter'
    isOneOf: false
    inputFields: [
      { name: 'nodeId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      {
        name: 'status'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'JobRunStatus'; ofType: null } }
        }
        defaultValue: null
      },
      { name: 'templateId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'text'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
    ]
  }
  JobRunHost: {
    kind: 'OBJECT'
    name: 'JobRunHost'
    fields: {
      changed: { name: 'changed'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      currentTask: { name: 'currentTask'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      failed: { name: 'failed'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      ignored: { name: 'ignored'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      message: { name: 'message'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      node: { name: 'node'; type: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      ok: { name: 'ok'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      rescued: { name: 'rescued'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      result: {
        name: 'result'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'HostResult'; ofType: null } }
      }
      run: { name: 'run'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRun'; ofType: null } } }
      skipped: { name: 'skipped'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      unreachable: {
        name: 'unreachable'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  JobRunOrder: {
    kind: 'INPUT_OBJECT'
    name: 'JobRunOrder'
    isOneOf: false
    inputFields: [
      {
        name: 'direction'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'SortDirection'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'field'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'JobRunOrderField'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  JobRunOrderField: { name: 'JobRunOrderField'; enumValues: 'CREATED_AT' }
  JobRunStatus: {
    name: 'JobRunStatus'
    enumValues: 'CANCELED' | 'CANCELING' | 'ERROR' | 'FAILED' | 'PARTIAL' | 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'TIMED_OUT'
  }
  JobTemplate: {
    kind: 'OBJECT'
    name: 'JobTemplate'
    fields: {
      become: {
        name: 'become'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      becomeMethod: {
        name: 'becomeMethod'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'BecomeMethod'; ofType: null } }
      }
      becomeUser: {
        name: 'becomeUser'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      category: {
        name: 'category'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      defaultVars: {
        name: 'defaultVars'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      }
      description: {
        name: 'description'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      displayName: {
        name: 'displayName'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      forks: { name: 'forks'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      isIdempotent: {
        name: 'isIdempotent'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      isSystem: {
        name: 'isSystem'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      playbookPath: {
        name: 'playbookPath'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      tags: {
        name: 'tags'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
          }
        }
      }
      timeoutSeconds: {
        name: 'timeoutSeconds'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  JobTemplateConnection: {
    kind: 'OBJECT'
    name: 'JobTemplateConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobTemplateEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  JobTemplateEdge: {
    kind: 'OBJECT'
    name: 'JobTemplateEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: {
        name: 'node'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobTemplate'; ofType: null } }
      }
    }
  }
  LabNodeOffer: {
    kind: 'OBJECT'
    name: 'LabNodeOffer'
    fields: {
      alreadyAdded: {
        name: 'alreadyAdded'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      behindBastion: {
        name: 'behindBastion'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      host: { name: 'host'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      port: { name: 'port'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      profile: {
        name: 'profile'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  LabOffer: {
    kind: 'OBJECT'
    name: 'LabOffer'
    fields: {
      credentialsReady: {
        name: 'credentialsReady'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      importInput: {
        name: 'importInput'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'JSON'; ofType: null } }
      }
      nodes: {
        name: 'nodes'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'LabNodeOffer'; ofType: null } }
          }
        }
      }
    }
  }
  LabelFilter: {
    kind: 'INPUT_OBJECT'
    name: 'LabelFilter'
    isOneOf: false
    inputFields: [
      {
        name: 'key'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      { name: 'value'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
    ]
  }
  Mutation: {
    kind: 'OBJECT'
    name: 'Mutation'
    fields: {
      addNode: {
        name: 'addNode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'AddNodeResult'; ofType: null } }
      }
      approveHostKeys: {
        name: 'approveHostKeys'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'ApproveHostKeysResult'; ofType: null } }
      }
      cancelJobRun: {
        name: 'cancelJobRun'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'CancelJobRunResult'; ofType: null } }
      }
      createApiToken: {
        name: 'createApiToken'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'CreateApiTokenResult'; ofType: null } }
      }
      createCredential: {
        name: 'createCredential'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'CreateCredentialResult'; ofType: null } }
      }
      createNodeGroup: {
        name: 'createNodeGroup'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'CreateNodeGroupResult'; ofType: null } }
      }
      decommissionNode: {
        name: 'decommissionNode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'DecommissionNodeResult'; ofType: null } }
      }
      deleteCredential: {
        name: 'deleteCredential'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'DeleteCredentialResult'; ofType: null } }
      }
      deleteNodeGroup: {
        name: 'deleteNodeGroup'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'DeleteNodeGroupResult'; ofType: null } }
      }
      discoverNodes: {
        name: 'discoverNodes'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'DiscoverNodesResult'; ofType: null } }
      }
      importNodes: {
        name: 'importNodes'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'ImportNodesResult'; ofType: null } }
      }
      purgeNode: {
        name: 'purgeNode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'PurgeNodeResult'; ofType: null } }
      }
      recommissionNode: {
        name: 'recommissionNode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'RecommissionNodeResult'; ofType: null } }
      }
      revokeApiToken: {
        name: 'revokeApiToken'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'RevokeApiTokenResult'; ofType: null } }
      }
      runJob: {
        name: 'runJob'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'RunJobResult'; ofType: null } }
      }
      setNodeGroupMembers: {
        name: 'setNodeGroupMembers'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'SetNodeGroupMembersResult'; ofType: null } }
      }
      setNodeMaintenance: {
        name: 'setNodeMaintenance'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'SetNodeMaintenanceResult'; ofType: null } }
      }
      setPassword: {
        name: 'setPassword'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'SetPasswordResult'; ofType: null } }
      }
      signIn: {
        name: 'signIn'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'SignInResult'; ofType: null } }
      }
      signInWithLink: {
        name: 'signInWithLink'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'SignInWithLinkResult'; ofType: null } }
      }
      signOut: {
        name: 'signOut'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      testConnections: {
        name: 'testConnections'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'TestConnectionsResult'; ofType: null } }
      }
      updateCredential: {
        name: 'updateCredential'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'UpdateCredentialResult'; ofType: null } }
      }
      updateNode: {
        name: 'updateNode'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'UpdateNodeResult'; ofType: null } }
      }
    }
  }
  Node: {
    kind: 'INTERFACE'
    name: 'Node'
    fields: { id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } } }
    possibleTypes:
      | 'Accelerator'
      | 'ApiToken'
      | 'ComputeNode'
      | 'ConnectionTest'
      | 'Credential'
      | 'Discovery'
      | 'JobRun'
      | 'JobTemplate'
      | 'NodeGroup'
  }
  NodeFacets: {
    kind: 'OBJECT'
    name: 'NodeFacets'
    fields: {
      arches: {
        name: 'arches'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
      deviceTypes: {
        name: 'deviceTypes'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
      groups: {
        name: 'groups'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
      models: {
        name: 'models'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
      oses: {
        name: 'oses'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
      statuses: {
        name: 'statuses'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
      tags: {
        name: 'tags'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Facet'; ofType: null } }
          }
        }
      }
    }
  }
  NodeFields: {
    kind: 'INPUT_OBJECT'
    name: 'NodeFields'
    isOneOf: false
    inputFields: [
      { name: 'bastionId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'becomeCredentialId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'connectionType'; type: { kind: 'ENUM'; name: 'ConnectionType'; ofType: null }; defaultValue: null },
      { name: 'credentialId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'displayName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'labels'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null }; defaultValue: null },
      { name: 'name'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'nodeType'; type: { kind: 'ENUM'; name: 'NodeType'; ofType: null }; defaultValue: null },
      { name: 'notes'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'sshUser'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'tags'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
    ]
  }
  NodeFilter: {
    kind: 'INPUT_OBJECT'
    name: 'NodeFilter'
    isOneOf: false
    inputFields: [
      { name: 'acceleratorModel'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'acceleratorVendor'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'arch'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'deviceType'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'DeviceType'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'group'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
      { name: 'hasHostKeyAlarm'; type: { kind: 'SCALAR'; name: 'Boolean'; ofType: null }; defaultValue: null },
      { name: 'hostlist'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'label'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'INPUT_OBJECT'; name: 'LabelFilter'; ofType: null } }
        }
        defaultValue: null
      },
      { name: 'minAccelerators'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      {
        name: 'nodeType'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'NodeType'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'os'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'status'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'NodeStatus'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'tag'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
      { name: 'text'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
    ]
  }
  NodeGroup: {
    kind: 'OBJECT'
    name: 'NodeGroup'
    fields: {
      description: {
        name: 'description'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      displayName: { name: 'displayName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      id: { name: 'id'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } } }
      isSystem: {
        name: 'isSystem'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      nodeCount: {
        name: 'nodeCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      nodes: {
        name: 'nodes'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNodeConnection'; ofType: null } }
      }
      priority: {
        name: 'priority'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  NodeGroupConnection: {
    kind: 'OBJECT'
    name: 'NodeGroupConnection'
    fields: {
      edges: {
        name: 'edges'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'NodeGroupEdge'; ofType: null } }
          }
        }
      }
      pageInfo: {
        name: 'pageInfo'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'PageInfo'; ofType: null } }
      }
      totalCount: {
        name: 'totalCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
    }
  }
  NodeGroupEdge: {
    kind: 'OBJECT'
    name: 'NodeGroupEdge'
    fields: {
      cursor: {
        name: 'cursor'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      node: { name: 'node'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'NodeGroup'; ofType: null } } }
    }
  }
  NodeImportInput: {
    kind: 'INPUT_OBJECT'
    name: 'NodeImportInput'
    isOneOf: false
    inputFields: [
      { name: 'defaults'; type: { kind: 'INPUT_OBJECT'; name: 'NodeFields'; ofType: null }; defaultValue: null },
      {
        name: 'format'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ImportFormat'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'onlyRows'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
        }
        defaultValue: null
      },
      {
        name: 'text'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  NodeImportReport: {
    kind: 'OBJECT'
    name: 'NodeImportReport'
    fields: {
      addedCount: {
        name: 'addedCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      failedCount: {
        name: 'failedCount'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      rows: {
        name: 'rows'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'NodeImportRow'; ofType: null } }
          }
        }
      }
    }
  }
  NodeImportResult: {
    kind: 'UNION'
    name: 'NodeImportResult'
    fields: {}
    possibleTypes: 'ForbiddenError' | 'InvalidInputError' | 'NodeImportReport' | 'NotFoundError' | 'UnauthenticatedError'
  }
  NodeImportRow: {
    kind: 'OBJECT'
    name: 'NodeImportRow'
    fields: {
      host: { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      issues: {
        name: 'issues'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'InputIssue'; ofType: null } }
          }
        }
      }
      name: { name: 'name'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      node: { name: 'node'; type: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      port: { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      row: { name: 'row'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } } }
      source: {
        name: 'source'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      state: {
        name: 'state'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'NodeImportState'; ofType: null } }
      }
    }
  }
  NodeImportState: { name: 'NodeImportState'; enumValues: 'ADDED' | 'EXISTS' | 'INVALID' | 'VALID' }
  NodeOrder: {
    kind: 'INPUT_OBJECT'
    name: 'NodeOrder'
    isOneOf: false
    inputFields: [
      {
        name: 'direction'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'SortDirection'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'field'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'NodeOrderField'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  NodeOrderField: { name: 'NodeOrderField'; enumValues: 'CREATED_AT' | 'LAST_SEEN_AT' | 'NAME' | 'STATUS' }
  NodeStatus: { name: 'NodeStatus'; enumValues: 'DECOMMISSIONED' | 'MAINTENANCE' | 'NEW' | 'READY' | 'UNREACHABLE' }
  NodeType: { name: 'NodeType'; enumValues: 'COMPUTE' | 'CONTROLLER' | 'LOGIN' | 'OTHER' | 'STORAGE' }
  NotFoundError: {
    kind: 'OBJECT'
    name: 'NotFoundError'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  OfferedKey: {
    kind: 'OBJECT'
    name: 'OfferedKey'
    fields: {
      fingerprint: {
        name: 'fingerprint'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      isChanged: {
        name: 'isChanged'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      key: { name: 'key'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      objectId: {
        name: 'objectId'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } }
      }
    }
  }
  PageInfo: {
    kind: 'OBJECT'
    name: 'PageInfo'
    fields: {
      endCursor: { name: 'endCursor'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      hasNextPage: {
        name: 'hasNextPage'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      hasPreviousPage: {
        name: 'hasPreviousPage'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      startCursor: { name: 'startCursor'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
    }
  }
  PreflightStage: {
    kind: 'OBJECT'
    name: 'PreflightStage'
    fields: {
      detail: { name: 'detail'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      durationMs: {
        name: 'durationMs'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      }
      hint: { name: 'hint'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      hop: { name: 'hop'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      offeredKey: { name: 'offeredKey'; type: { kind: 'OBJECT'; name: 'OfferedKey'; ofType: null } }
      stage: {
        name: 'stage'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'PreflightStageName'; ofType: null } }
      }
      state: {
        name: 'state'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'PreflightState'; ofType: null } }
      }
    }
  }
  PreflightStageName: {
    name: 'PreflightStageName'
    enumValues: 'ANSIBLE' | 'AUTHENTICATION' | 'BANNER' | 'HOST_KEY' | 'PYTHON' | 'RESOLVE' | 'SHELL' | 'SUDO' | 'TCP'
  }
  PreflightState: { name: 'PreflightState'; enumValues: 'FAILED' | 'OK' | 'SKIPPED' }
  PurgeNodeResult: {
    kind: 'UNION'
    name: 'PurgeNodeResult'
    fields: {}
    possibleTypes: 'ConflictError' | 'Deleted' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  Query: {
    kind: 'OBJECT'
    name: 'Query'
    fields: {
      accelerators: {
        name: 'accelerators'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'AcceleratorConnection'; ofType: null } }
      }
      apiTokens: {
        name: 'apiTokens'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ApiTokenConnection'; ofType: null } }
      }
      checkNodeImport: {
        name: 'checkNodeImport'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'UNION'; name: 'NodeImportResult'; ofType: null } }
      }
      computeNode: { name: 'computeNode'; type: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      credentials: {
        name: 'credentials'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'CredentialConnection'; ofType: null } }
      }
      discoveryDiff: {
        name: 'discoveryDiff'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'DiscoveryChange'; ofType: null } }
          }
        }
      }
      jobRuns: {
        name: 'jobRuns'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunConnection'; ofType: null } }
      }
      jobTemplate: { name: 'jobTemplate'; type: { kind: 'OBJECT'; name: 'JobTemplate'; ofType: null } }
      jobTemplates: {
        name: 'jobTemplates'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobTemplateConnection'; ofType: null } }
      }
      labOffer: { name: 'labOffer'; type: { kind: 'OBJECT'; name: 'LabOffer'; ofType: null } }
      node: { name: 'node'; type: { kind: 'INTERFACE'; name: 'Node'; ofType: null } }
      nodeFacets: {
        name: 'nodeFacets'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'NodeFacets'; ofType: null } }
      }
      nodeGroups: {
        name: 'nodeGroups'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'NodeGroupConnection'; ofType: null } }
      }
      nodes: {
        name: 'nodes'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNodeConnection'; ofType: null } }
      }
      viewer: { name: 'viewer'; type: { kind: 'OBJECT'; name: 'Viewer'; ofType: null } }
    }
  }
  RecommissionNodeResult: {
    kind: 'UNION'
    name: 'RecommissionNodeResult'
    fields: {}
    possibleTypes: 'ComputeNode' | 'ConflictError' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  RevokeApiTokenResult: {
    kind: 'UNION'
    name: 'RevokeApiTokenResult'
    fields: {}
    possibleTypes: 'ApiToken' | 'ConflictError' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  Role: { name: 'Role'; enumValues: 'ADMIN' | 'OPERATOR' | 'OWNER' | 'VIEWER' }
  RunJobInput: {
    kind: 'INPUT_OBJECT'
    name: 'RunJobInput'
    isOneOf: false
    inputFields: [
      { name: 'become'; type: { kind: 'SCALAR'; name: 'Boolean'; ofType: null }; defaultValue: null },
      { name: 'checkMode'; type: { kind: 'SCALAR'; name: 'Boolean'; ofType: null }; defaultValue: null },
      { name: 'diffMode'; type: { kind: 'SCALAR'; name: 'Boolean'; ofType: null }; defaultValue: null },
      { name: 'extraVars'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null }; defaultValue: null },
      { name: 'forks'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'idempotencyKey'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'limit'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'nodeIds'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } }
        }
        defaultValue: null
      },
      { name: 'reason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'template'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      { name: 'timeoutSeconds'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'verbosity'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
    ]
  }
  RunJobResult: {
    kind: 'UNION'
    name: 'RunJobResult'
    fields: {}
    possibleTypes: 'ConflictError' | 'ForbiddenError' | 'InvalidInputError' | 'JobRun' | 'NotFoundError' | 'UnauthenticatedError'
  }
  SetNodeGroupMembersResult: {
    kind: 'UNION'
    name: 'SetNodeGroupMembersResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NodeGroup'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  SetNodeMaintenanceResult: {
    kind: 'UNION'
    name: 'SetNodeMaintenanceResult'
    fields: {}
    possibleTypes: 'ComputeNode' | 'ConflictError' | 'ForbiddenError' | 'NotFoundError' | 'UnauthenticatedError'
  }
  SetPasswordInput: {
    kind: 'INPUT_OBJECT'
    name: 'SetPasswordInput'
    isOneOf: false
    inputFields: [
      { name: 'currentPassword'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'email'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'name'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'password'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  SetPasswordResult: {
    kind: 'UNION'
    name: 'SetPasswordResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'UnauthenticatedError'
      | 'UnavailableError'
      | 'Viewer'
  }
  SignInInput: {
    kind: 'INPUT_OBJECT'
    name: 'SignInInput'
    isOneOf: false
    inputFields: [
      {
        name: 'email'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
      {
        name: 'password'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  SignInResult: {
    kind: 'UNION'
    name: 'SignInResult'
    fields: {}
    possibleTypes: 'InvalidInputError' | 'SignedIn' | 'UnauthenticatedError' | 'UnavailableError'
  }
  SignInWithLinkInput: {
    kind: 'INPUT_OBJECT'
    name: 'SignInWithLinkInput'
    isOneOf: false
    inputFields: [
      {
        name: 'token'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        defaultValue: null
      },
    ]
  }
  SignInWithLinkResult: {
    kind: 'UNION'
    name: 'SignInWithLinkResult'
    fields: {}
    possibleTypes: 'SignedIn' | 'UnauthenticatedError' | 'UnavailableError'
  }
  SignedIn: {
    kind: 'OBJECT'
    name: 'SignedIn'
    fields: {
      sessionToken: {
        name: 'sessionToken'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
      viewer: {
        name: 'viewer'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Viewer'; ofType: null } }
      }
    }
  }
  SortDirection: { name: 'SortDirection'; enumValues: 'ASC' | 'DESC' }
  StartedConnectionTests: {
    kind: 'OBJECT'
    name: 'StartedConnectionTests'
    fields: {
      tests: {
        name: 'tests'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ConnectionTest'; ofType: null } }
          }
        }
      }
    }
  }
  StartedDiscoveries: {
    kind: 'OBJECT'
    name: 'StartedDiscoveries'
    fields: {
      discoveries: {
        name: 'discoveries'
        type: {
          kind: 'NON_NULL'
          name: never
          ofType: {
            kind: 'LIST'
            name: never
            ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Discovery'; ofType: null } }
          }
        }
      }
    }
  }
  String: unknown
  Subscription: {
    kind: 'OBJECT'
    name: 'Subscription'
    fields: {
      connectionTestUpdated: {
        name: 'connectionTestUpdated'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ConnectionTest'; ofType: null } }
      }
      discoveryUpdated: {
        name: 'discoveryUpdated'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'Discovery'; ofType: null } }
      }
      jobRunEvents: {
        name: 'jobRunEvents'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRunEventBatch'; ofType: null } }
      }
      jobRunUpdated: {
        name: 'jobRunUpdated'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'JobRun'; ofType: null } }
      }
      nodeUpdated: {
        name: 'nodeUpdated'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'OBJECT'; name: 'ComputeNode'; ofType: null } }
      }
    }
  }
  TestConnectionsResult: {
    kind: 'UNION'
    name: 'TestConnectionsResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'StartedConnectionTests'
      | 'UnauthenticatedError'
  }
  ToolReport: {
    kind: 'OBJECT'
    name: 'ToolReport'
    fields: {
      deviceCount: { name: 'deviceCount'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      durationMs: { name: 'durationMs'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null } }
      reason: { name: 'reason'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      state: { name: 'state'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ToolState'; ofType: null } } }
      tool: { name: 'tool'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      version: { name: 'version'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
    }
  }
  ToolState: { name: 'ToolState'; enumValues: 'ABSENT' | 'FAILED' | 'FOREIGN' | 'OK' | 'TIMED_OUT' }
  UnauthenticatedError: {
    kind: 'OBJECT'
    name: 'UnauthenticatedError'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  UnavailableError: {
    kind: 'OBJECT'
    name: 'UnavailableError'
    fields: {
      code: { name: 'code'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'ErrorCode'; ofType: null } } }
      message: {
        name: 'message'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
  UpdateCredentialInput: {
    kind: 'INPUT_OBJECT'
    name: 'UpdateCredentialInput'
    isOneOf: false
    inputFields: [
      { name: 'becomeMethod'; type: { kind: 'ENUM'; name: 'BecomeMethod'; ofType: null }; defaultValue: null },
      { name: 'description'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'id'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } }
        defaultValue: null
      },
      { name: 'name'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'passphrase'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'password'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'privateKey'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'username'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'viaId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
    ]
  }
  UpdateCredentialResult: {
    kind: 'UNION'
    name: 'UpdateCredentialResult'
    fields: {}
    possibleTypes:
      | 'ConflictError'
      | 'Credential'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  UpdateNodeInput: {
    kind: 'INPUT_OBJECT'
    name: 'UpdateNodeInput'
    isOneOf: false
    inputFields: [
      { name: 'bastionId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'becomeCredentialId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'connectionType'; type: { kind: 'ENUM'; name: 'ConnectionType'; ofType: null }; defaultValue: null },
      { name: 'credentialId'; type: { kind: 'SCALAR'; name: 'ID'; ofType: null }; defaultValue: null },
      { name: 'displayName'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'host'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'id'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'ID'; ofType: null } }
        defaultValue: null
      },
      { name: 'labels'; type: { kind: 'SCALAR'; name: 'JSON'; ofType: null }; defaultValue: null },
      { name: 'name'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'nodeType'; type: { kind: 'ENUM'; name: 'NodeType'; ofType: null }; defaultValue: null },
      { name: 'notes'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      { name: 'port'; type: { kind: 'SCALAR'; name: 'Int'; ofType: null }; defaultValue: null },
      { name: 'sshUser'; type: { kind: 'SCALAR'; name: 'String'; ofType: null }; defaultValue: null },
      {
        name: 'tags'
        type: {
          kind: 'LIST'
          name: never
          ofType: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
        }
        defaultValue: null
      },
    ]
  }
  UpdateNodeResult: {
    kind: 'UNION'
    name: 'UpdateNodeResult'
    fields: {}
    possibleTypes:
      | 'ComputeNode'
      | 'ConflictError'
      | 'ForbiddenError'
      | 'InvalidInputError'
      | 'NotFoundError'
      | 'UnauthenticatedError'
  }
  Viewer: {
    kind: 'OBJECT'
    name: 'Viewer'
    fields: {
      email: { name: 'email'; type: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      hasPassword: {
        name: 'hasPassword'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'Boolean'; ofType: null } }
      }
      kind: { name: 'kind'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      name: { name: 'name'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } } }
      role: { name: 'role'; type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'ENUM'; name: 'Role'; ofType: null } } }
      tenantName: {
        name: 'tenantName'
        type: { kind: 'NON_NULL'; name: never; ofType: { kind: 'SCALAR'; name: 'String'; ofType: null } }
      }
    }
  }
}

/** An IntrospectionQuery representation of your schema.
 *
 * @remarks
 * This is an introspection of your schema saved as a file by GraphQLSP.
 * It will automatically be used by `gql.tada` to infer the types of your GraphQL documents.
 * If you need to reuse this data or update your `scalars`, update `tadaOutputLocation` to
 * instead save to a .ts instead of a .d.ts file.
 */
export type introspection = {
  name: never
  query: 'Query'
  mutation: 'Mutation'
  subscription: 'Subscription'
  types: introspection_types
}

import * as gqlTada from 'gql.tada'

declare module 'gql.tada' {
  interface setupSchema {
    introspection: introspection
  }
}
