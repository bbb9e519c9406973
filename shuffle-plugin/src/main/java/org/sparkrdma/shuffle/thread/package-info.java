// SPDX-License-Identifier: Apache-2.0
/**
 * The threads of the plug-in, and what they share: the owner of state ({@link
 * org.sparkrdma.shuffle.thread.OwnerThread}), the refusal of a thread by the system ({@link
 * org.sparkrdma.shuffle.thread.ThreadShortageException}) and the wait for the end of a thread
 * ({@link org.sparkrdma.shuffle.thread.ThreadEnd}). What each thread owns and never does stands in
 * ARCHITECTURE.md.
 *
 * <table>
 * <caption>All threads of an executor; the first word of a row is the thread's name</caption>
 * <tr><th>Thread</th><th>Created by</th><th>Ended by</th></tr>
 * <tr><td>rdma-control</td><td>{@link org.sparkrdma.shuffle.thread.ControlThread}</td>
 * <td>{@link org.sparkrdma.shuffle.runtime.RdmaRuntime#close}</td></tr>
 * <tr><td>rdma-agent</td><td>{@code TransportBuilder} of {@code
 * org.sparkrdma.shuffle.transport}</td><td>the transport's close, by the control thread</td></tr>
 * <tr><td>rdma-queue-pairs</td><td>{@code QueuePairThread} of {@code
 * org.sparkrdma.shuffle.transport}</td><td>the transport's close, after the agent</td></tr>
 * <tr><td>rdma-disk-D-N, rdma-window-D-1, rdma-dereg-N</td><td>{@link org.sparkrdma.shuffle.serve.DiskThreads}</td>
 * <td>{@link org.sparkrdma.shuffle.serve.BlockServer#close}, by the transport's close</td></tr>
 * <tr><td>rdma-tcp-N</td><td>{@link org.sparkrdma.shuffle.fetch.FallbackThreads}</td>
 * <td>{@link org.sparkrdma.shuffle.runtime.RdmaRuntime#close}</td></tr>
 * <tr><td>rdma-broadcast-N</td><td>{@link org.sparkrdma.shuffle.broadcast.Broadcasts}</td>
 * <td>ten idle seconds, or its close</td></tr>
 * <tr><td>rdma-doctor</td><td>{@link org.sparkrdma.shuffle.executorchecks.ExecutorDoctor}</td>
 * <td>itself, after its checks, or its close</td></tr>
 * <tr><td>rdma-runtime-shutdown</td><td>{@link org.sparkrdma.shuffle.runtime.RdmaRuntime}, a hook
 * of the JVM</td><td>{@link org.sparkrdma.shuffle.runtime.RdmaRuntime#close} removes it</td></tr>
 * <tr><td>rdma-cm-DEVICE-N</td><td>{@code CmThreads} of {@code org.sparkrdma.verbs.ibverbs}</td>
 * <td>the close of the device</td></tr>
 * <tr><td>rdma-disni-*</td><td>{@code Watcher} of {@code org.sparkrdma.verbs.disni}</td>
 * <td>the close of its queue or connection manager</td></tr>
 * <tr><td>soft-rdma-*</td><td>{@code DeviceLoop} of {@code org.sparkrdma.verbs.soft}; the hook
 * soft-rdma-cleaner by its {@code SharedDirectory}</td><td>the close of the device</td></tr>
 * </table>
 */
package org.sparkrdma.shuffle.thread;
