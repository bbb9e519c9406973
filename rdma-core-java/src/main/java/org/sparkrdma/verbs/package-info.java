// SPDX-License-Identifier: Apache-2.0
/**
 * RDMA verbs in Java: the nouns of libibverbs and rdma_cm(7), the same for every engine.
 *
 * <p>Start at {@link org.sparkrdma.verbs.Verbs}, which finds the engines and opens one. From a
 * {@link org.sparkrdma.verbs.Device} come {@link org.sparkrdma.verbs.ProtectionDomain protection
 * domains}, {@link org.sparkrdma.verbs.CompletionQueue completion queues} and a {@link
 * org.sparkrdma.verbs.cm.ConnectionManager connection manager}; connections bring {@link
 * org.sparkrdma.verbs.QueuePair queue pairs}.
 *
 * <p>Nothing here assumes shared memory, a particular transport, or Spark. An engine that lacks a
 * feature lacks its {@link org.sparkrdma.verbs.device.Capability} too; it never differs silently.
 *
 * <p>Threads: one thread, the owner, polls a completion queue, takes the events of its connection
 * manager and posts to the queue pairs that complete there. Registering memory, allocating it and
 * {@link org.sparkrdma.verbs.CompletionChannel#wakeup()} are safe from any thread. Where the device
 * has {@link org.sparkrdma.verbs.device.Capability#POST_BESIDE_POLL}, any thread may post sends.
 *
 * <p>Errors come in three kinds. Expected ones (queue full, nothing to poll) are return values.
 * Those of the environment are {@link org.sparkrdma.verbs.VerbsException}s, or a {@link
 * org.sparkrdma.verbs.WorkStatus} when they arrive with a completion. Misuse is one of the JDK's
 * unchecked exceptions.
 *
 * <p>No parameter is null, and no result, unless it says so.
 */
package org.sparkrdma.verbs;
