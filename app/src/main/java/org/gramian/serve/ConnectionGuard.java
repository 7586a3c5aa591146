package org.gramian.serve;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Two limits that Jetty lacks, so that a client with many slow connections cannot lock out others.
 *
 * <ul>
 *   <li>A request's header must be complete within a time limit: Jetty's idle timeout starts again with every byte, and its minimum
 *       data rate applies to bodies.
 *   <li>A client address has a bounded number of connections: Jetty's connection limit counts all clients together, and its limits
 *       per client count requests. Addresses of IPv6 count by their first 64 bits, which one client usually controls.
 * </ul>
 */
final class ConnectionGuard extends Handler.Wrapper implements Connection.Listener {
    private static final int NETWORK_BYTES = 8;

    private final ServeOptions.Limits.Connections limits;
    private final Map<Connection, Waiting> open = new ConcurrentHashMap<>();
    private final Map<InetAddress, Integer> counts = new ConcurrentHashMap<>();

    /** An open connection: its client, and the task that closes it. */
    private record Waiting(InetAddress client, Scheduler.Task closing) {}

    ConnectionGuard(ServeOptions.Limits.Connections limits, Handler inner) {
        super(inner);
        this.limits = limits;
    }

    @Override
    protected void doStart() throws Exception {
        for (Connector connector : getServer().getConnectors()) {
            connector.addBean(this, false);
        }
        super.doStart();
    }

    @Override
    public void onOpened(Connection connection) {
        if (connection.getEndPoint().getRemoteSocketAddress() instanceof InetSocketAddress address) {
            InetAddress client = network(address.getAddress());
            open.put(connection, new Waiting(client, closing(connection)));
            if (counts.merge(client, 1, Integer::sum) > limits.perClient()) {
                connection.getEndPoint().close();
            }
        }
    }

    @Override
    public void onClosed(Connection connection) {
        Waiting closed = open.remove(connection);
        if (closed != null) {
            closed.closing.cancel();
            counts.computeIfPresent(closed.client, (_, count) -> count > 1 ? count - 1 : null);
        }
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        Connection connection = request.getConnectionMetaData().getConnection();
        Waiting waiting = open.get(connection);
        if (waiting != null) {
            waiting.closing.cancel();
            Request.addCompletionListener(
                    request,
                    _ -> open.computeIfPresent(connection, (_, now) -> new Waiting(now.client, closing(connection))));
        }
        return super.handle(request, response, callback);
    }

    /** Schedules the end of a connection for the case that no header is complete in time. */
    private Scheduler.Task closing(Connection connection) {
        return getServer()
                .getScheduler()
                .schedule(
                        () -> connection.getEndPoint().close(), limits.header().toMillis(), TimeUnit.MILLISECONDS);
    }

    private static InetAddress network(InetAddress address) {
        if (!(address instanceof Inet6Address)) {
            return address;
        }
        byte[] network = Arrays.copyOf(Arrays.copyOf(address.getAddress(), NETWORK_BYTES), 2 * NETWORK_BYTES);
        try {
            return InetAddress.getByAddress(network);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of IPv6 has 16 bytes", e);
        }
    }
}
