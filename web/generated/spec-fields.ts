export interface InputField {
  /** As in the schema: `[String!]`. */
  type: string;
  help: string;
  isRequired?: boolean;
  default?: unknown;
  /** Values of an enumeration. */
  values?: readonly string[];
}

/** The input types of a spec, by name, with their fields. */
export const inputTypes: Readonly<Record<string, Readonly<Record<string, InputField>>>> = {
  "JobSpecInput": {
    "account": {
      "type": "String",
      "help": "Account to charge, the unit of fair share; default: the account of the team, or your own."
    },
    "arguments": {
      "type": "[String!]",
      "help": "Arguments; ${NAME} references are expanded. At most 10,000."
    },
    "bid": {
      "type": "Int",
      "help": "Bid for a better position in the queue."
    },
    "capacityReservationId": {
      "type": "ID",
      "help": "Id of the capacity reservation to run in."
    },
    "command": {
      "type": "[String!]",
      "help": "Program and arguments, passed without expansion. At most 10,000."
    },
    "customAttributes": {
      "type": "JSONObject",
      "help": "Further attributes for the backend."
    },
    "data": {
      "type": "[String!]",
      "help": "Data sets to mount in the container (each `source:/path/in/job`). At most 256."
    },
    "dependsOn": {
      "type": "[DependencyInput!]",
      "help": "Jobs that must end first. At most 100."
    },
    "durationSeconds": {
      "type": "Float",
      "help": "Expected duration of a run in seconds."
    },
    "environment": {
      "type": "[EnvironmentVariableInput!]",
      "help": "Environment variables in order (the last one of a name wins). At most 10,000."
    },
    "estimatedCost": {
      "type": "Float",
      "help": "Your estimate of the cost: 0 … 10¹⁵."
    },
    "executable": {
      "type": "String",
      "help": "Program to run; its arguments are in `arguments`."
    },
    "executor": {
      "type": "Executor",
      "help": "Default: chosen by the other fields and the pool.",
      "values": [
        "CONTAINER",
        "HANDLER",
        "KUBERNETES",
        "LOCAL",
        "SIMULATED",
        "SLURM"
      ]
    },
    "handler": {
      "type": "String",
      "help": "Path of a module to run instead of a command, absolute or relative to the working directory."
    },
    "image": {
      "type": "String",
      "help": "Container image."
    },
    "inheritEnvironment": {
      "type": "Boolean",
      "help": "Whether the job inherits the environment variables that the server passes on.",
      "default": true
    },
    "input": {
      "type": "JSONObject",
      "help": "Input of the handler."
    },
    "interactive": {
      "type": "Boolean",
      "help": "Whether the job is interactive. Interactive jobs start first; a user can have one at a time."
    },
    "internalDns": {
      "type": "InternalDnsInput",
      "help": "DNS name for other jobs."
    },
    "labels": {
      "type": "[LabelInput!]",
      "help": "Keys and values. At most 64."
    },
    "launcher": {
      "type": "String",
      "help": "Launcher for the processes of the job: single, multiple, mpirun or srun, if the executor supports it.",
      "default": "single"
    },
    "maxRunTimeSeconds": {
      "type": "Float",
      "help": "Maximum duration of a run in seconds; 0: unlimited. Default: `durationSeconds`, else two days, or unlimited for a preemptable or interactive job."
    },
    "name": {
      "type": "String",
      "help": "Name, at most 255 characters."
    },
    "networkIsolation": {
      "type": "NetworkIsolation",
      "help": "Network traffic to block.",
      "values": [
        "ALL",
        "IN",
        "OUT"
      ]
    },
    "notBefore": {
      "type": "DateTime",
      "help": "Earliest start; a time in the past means now."
    },
    "onDependencyFailure": {
      "type": "OnDependencyFailure",
      "help": "Action when a dependency fails.",
      "default": "CANCEL",
      "values": [
        "CANCEL",
        "WAIT"
      ]
    },
    "outputs": {
      "type": "[String!]",
      "help": "Patterns, as of `.gitignore`, of files below the working directory that become artifacts when a run ends. At most 64."
    },
    "postLaunch": {
      "type": "String",
      "help": "Path of a script that is sourced after the command ended."
    },
    "preLaunch": {
      "type": "String",
      "help": "Path of a script that is sourced before the command starts."
    },
    "preemptable": {
      "type": "Boolean",
      "help": "Whether the job may be preempted by other jobs."
    },
    "project": {
      "type": "String",
      "help": "Project, for limits, reservations and filters."
    },
    "pull": {
      "type": "ImagePull",
      "help": "When the image is pulled; default: MISSING.",
      "values": [
        "ALWAYS",
        "MISSING"
      ]
    },
    "queue": {
      "type": "String",
      "help": "Submission queue; default: the default queue."
    },
    "resources": {
      "type": "ResourcesInput",
      "help": "Requested resources."
    },
    "restartable": {
      "type": "Boolean",
      "help": "Whether the job may be run again from the beginning."
    },
    "resumable": {
      "type": "Boolean",
      "help": "Whether the job can continue from a closure. A run that is interrupted after `saveClosure` is followed by another run."
    },
    "retry": {
      "type": "RetryInput",
      "help": "Retry after a failed run; default: none."
    },
    "secrets": {
      "type": "[String!]",
      "help": "Names of secrets to put into the environment (your own, or else those of the team of the job). At most 32."
    },
    "snapshot": {
      "type": "ID",
      "help": "The snapshot of which each run gets a fresh copy as its working directory: snapshot_…"
    },
    "stderrPath": {
      "type": "String",
      "help": "File that receives a copy of the error output."
    },
    "stdinPath": {
      "type": "String",
      "help": "File used as standard input."
    },
    "stdoutPath": {
      "type": "String",
      "help": "File that receives a copy of the output."
    },
    "team": {
      "type": "String",
      "help": "Team of the job; default: your default team."
    },
    "workdir": {
      "type": "String",
      "help": "Working directory: an absolute path or ~/…; with `snapshot`, a folder of the snapshot."
    },
    "x11": {
      "type": "X11Input",
      "help": "X11 display."
    }
  },
  "DependencyInput": {
    "jobId": {
      "type": "ID!",
      "help": "The job to wait for.",
      "isRequired": true
    },
    "on": {
      "type": "DependencyOn",
      "help": "Required outcome of the job.",
      "default": "SUCCEEDED",
      "values": [
        "FAILED",
        "FINISHED",
        "SUCCEEDED"
      ]
    }
  },
  "EnvironmentVariableInput": {
    "name": {
      "type": "String!",
      "help": "Name that the job sees; without = and NUL.",
      "isRequired": true
    },
    "value": {
      "type": "String!",
      "help": "Value; ${NAME} references are expanded.",
      "isRequired": true
    }
  },
  "InternalDnsInput": {
    "name": {
      "type": "String",
      "help": "RFC 1035 label; the prefix of the account is added: \"dns-<account>-\", or \"dns--<hash>-\" if the account has other characters than a–z and 0–9."
    },
    "ports": {
      "type": "[InternalDnsPortInput!]!",
      "help": "The reachable ports. At most 1,024.",
      "isRequired": true
    }
  },
  "InternalDnsPortInput": {
    "port": {
      "type": "Int!",
      "help": "The port that other jobs connect to.",
      "isRequired": true
    },
    "protocol": {
      "type": "NetworkProtocol",
      "help": "TCP (default) or UDP.",
      "default": "TCP",
      "values": [
        "TCP",
        "UDP"
      ]
    },
    "targetPort": {
      "type": "Int",
      "help": "The port that the job listens on; default: `port`."
    }
  },
  "LabelInput": {
    "key": {
      "type": "String!",
      "help": "Key, unique within the job, at most 255 characters.",
      "isRequired": true
    },
    "value": {
      "type": "String!",
      "help": "Value, at most 1,024 characters; may be empty.",
      "isRequired": true
    }
  },
  "ResourcesInput": {
    "anyGpu": {
      "type": "Boolean",
      "help": "Whether other GPUs may be used when those of `gpuIds` are busy."
    },
    "cpu": {
      "type": "Float",
      "help": "Number of cores, at least 0.001; default 1."
    },
    "cpuCoresPerProcess": {
      "type": "Int",
      "help": "PSI/J: number of cores per process."
    },
    "cpuModel": {
      "type": "[String!]",
      "help": "Filters on the processor model (a leading ! excludes). At most 64."
    },
    "cudaVersion": {
      "type": "String",
      "help": "CUDA version that the GPUs must support, e.g. 11.8."
    },
    "exclusiveNodeUse": {
      "type": "Boolean",
      "help": "Whether the job needs exclusive nodes. The job then holds all of their cores and GPUs, which count against limits."
    },
    "gpu": {
      "type": "Int",
      "help": "Number of GPUs; default 0."
    },
    "gpuCoresPerProcess": {
      "type": "Int",
      "help": "PSI/J: number of GPUs per process."
    },
    "gpuIds": {
      "type": "[Int!]",
      "help": "Physical ids of exactly these GPUs; only in a pool with one node. At most 1,024."
    },
    "gpuMemoryBytes": {
      "type": "UInt53",
      "help": "Minimum bytes of memory of each GPU. Give `gpuMemoryGib` or `gpuMemoryBytes`, not both."
    },
    "gpuMemoryGib": {
      "type": "Int",
      "help": "Minimum GiB of memory of each GPU."
    },
    "gpuModel": {
      "type": "[String!]",
      "help": "Filters on the GPU model (a leading ! excludes). At most 64."
    },
    "gpuTensorCores": {
      "type": "Boolean",
      "help": "Whether the GPUs must have tensor cores; default: no requirement."
    },
    "infiniband": {
      "type": "Boolean",
      "help": "Whether the nodes must have InfiniBand."
    },
    "memoryBytes": {
      "type": "UInt53",
      "help": "Bytes of memory. Give `memoryGib` or `memoryBytes`, not both."
    },
    "memoryGib": {
      "type": "Int",
      "help": "GiB of memory per replica. Default: the same share of the memory of the machine as of its cores, at least 1 GiB; see `job.spec.resources.memoryBytes`. A job that uses more fails with `OOM_KILLED`."
    },
    "nodeCount": {
      "type": "Int",
      "help": "PSI/J: number of nodes."
    },
    "processCount": {
      "type": "Int",
      "help": "PSI/J: total number of processes."
    },
    "processesPerNode": {
      "type": "Int",
      "help": "PSI/J: number of processes per node."
    },
    "replicaMasterPort": {
      "type": "Int",
      "help": "Port of the first replica, announced to the other replicas."
    },
    "replicas": {
      "type": "Int",
      "help": "Number of replicas, default 1; they start together."
    }
  },
  "RetryInput": {
    "maxAttempts": {
      "type": "Int!",
      "help": "Maximum number of runs whose command failed.",
      "isRequired": true
    },
    "onExitCodes": {
      "type": "[Int!]",
      "help": "Exit codes that cause a retry (default: all except 0). At most 255."
    }
  },
  "X11Input": {
    "gpu": {
      "type": "Boolean",
      "help": "Whether the display is rendered by a GPU.",
      "default": false
    }
  }
};
