/**
 * Who listens where: executors publish their {@link org.sparkrdma.shuffle.directory.Endpoint} to
 * the driver ({@link org.sparkrdma.shuffle.directory.DriverDirectory}) and find those of others
 * ({@link org.sparkrdma.shuffle.directory.DirectoryClient}).
 *
 * <p>Messages are made of the JDK's types. The driver's side runs on Spark's dispatcher, the
 * executor's on one thread of its own.
 */
package org.sparkrdma.shuffle.directory;
