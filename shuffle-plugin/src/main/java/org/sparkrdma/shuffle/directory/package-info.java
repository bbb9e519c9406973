// SPDX-License-Identifier: Apache-2.0
/**
 * The directory of listeners: executors publish their {@link
 * org.sparkrdma.shuffle.directory.Endpoint} to the driver ({@link
 * org.sparkrdma.shuffle.directory.DriverDirectory}) and find those of others ({@link
 * org.sparkrdma.shuffle.directory.DirectoryClient}).
 *
 * <p>Messages contain only JDK types. The driver's side runs on Spark's dispatcher, its look-ups on
 * a thread of their own; the executor's side runs on the control thread.
 */
package org.sparkrdma.shuffle.directory;
