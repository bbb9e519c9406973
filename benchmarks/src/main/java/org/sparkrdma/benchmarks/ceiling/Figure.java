// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

/**
 * The figures of a case; each has one value in a round. Names that end in US are microseconds of
 * CPU time for each block, names that end in BYTES are bytes allocated on the heap for each block.
 */
enum Figure {
  /** Blocks for each second of CPU time of both executors. */
  BLOCKS_PER_CORE_SECOND,
  /** Blocks for each second of wall time, with the devices' threads on the same processors. */
  BLOCKS_PER_SECOND,
  /** Lengths of these blocks, in GB of 10⁹ bytes; no byte moved. */
  GB_PER_SECOND,
  /** Both executors. */
  BOTH_US,
  CLIENT_US,
  SERVER_US,
  /** The client's agent. */
  AGENT_US,
  SERVER_AGENT_US,
  /** The server's thread that answers LOCATEs. */
  BLOCK_SERVER_US,
  /** The JVM's own threads in both executors: collector and compiler. */
  JVM_US,
  /** The client's threads that hand over blocks. */
  DELIVERY_US,
  /** The client's task. */
  TASK_US,
  /** The client's thread that stands for the device; in no other figure. */
  DEVICE_US,
  /** The agent's part of the client's CPU time. */
  AGENT_SHARE,
  /** All threads of the client, with what the benchmark itself allocates. */
  CLIENT_BYTES,
  AGENT_BYTES,
  SERVER_BYTES,
  /** Both executors, with Spark's own client. */
  NETTY_BOTH_US,
  /** CPU time of both executors, plug-in over Spark's own. */
  CPU_RATIO,
  /** Computed, not measured: speed of a link at which the agent's thread would be busy. */
  AGENT_LINK_GBIT_PER_SECOND;

  private static final double SECOND_US = 1e6;
  private static final double GIGA = 1e9;

  /** The value in a round. */
  double of(CeilingRound round) {
    CeilingSample rdma = round.rdma();
    return switch (this) {
      case BLOCKS_PER_CORE_SECOND -> SECOND_US / rdma.bothUs();
      case BLOCKS_PER_SECOND -> rdma.blocksPerSecond();
      case GB_PER_SECOND -> rdma.blocksPerSecond() * round.blockBytes() / GIGA;
      case BOTH_US -> rdma.bothUs();
      case CLIENT_US -> rdma.clientUs();
      case SERVER_US -> rdma.serverUs();
      case AGENT_US -> rdma.agentUs();
      case SERVER_AGENT_US -> rdma.serverAgentUs();
      case BLOCK_SERVER_US -> rdma.blockServerUs();
      case JVM_US -> rdma.jvmUs();
      case DELIVERY_US -> rdma.roleUs(ThreadRole.DELIVERY);
      case TASK_US -> rdma.roleUs(ThreadRole.TASK);
      case DEVICE_US -> rdma.roleUs(ThreadRole.DEVICE);
      case AGENT_SHARE -> rdma.agentUs() / rdma.clientUs();
      case CLIENT_BYTES -> rdma.clientBytes();
      case AGENT_BYTES -> rdma.agentBytes();
      case SERVER_BYTES -> rdma.serverBytes();
      case NETTY_BOTH_US -> round.netty().bothUs();
      case CPU_RATIO -> rdma.bothUs() / round.netty().bothUs();
      case AGENT_LINK_GBIT_PER_SECOND ->
          (double) round.blockBytes() * Byte.SIZE / rdma.agentUs() * SECOND_US / GIGA;
    };
  }
}
