// SPDX-License-Identifier: Apache-2.0
/**
 * Common parts of this module's commands: options, progress, the directory of a run, and a cluster
 * that ends with the command.
 *
 * <p>Entries: {@link org.sparkrdma.launch.Launcher} for commands, {@link
 * org.sparkrdma.launch.MeasuredApplication} for the applications that they submit. All work of a
 * command is done by the main thread, with two exceptions: a thread of the cluster reads the
 * driver's output, and a shutdown hook ends the cluster and deletes the data when the run is
 * interrupted.
 */
package org.sparkrdma.launch;
