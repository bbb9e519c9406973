/**
 * The real thing: the system's libibverbs and librdmacm, bound by java.lang.foreign on Java 22 and
 * newer.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.ibverbs.IbverbsProvider}, the only public one. Here
 * it only says why the engine is not there; that of the same name in the jar's part for Java 22
 * loads it. The engine has no thread: the card and the kernel do the work, and what must be done
 * besides is done by whoever polls.
 */
package org.sparkrdma.verbs.ibverbs;
