// Package main reads nodes, creates a group and follows the log of a run with genqlient.
// Arguments: the HTTP address of /graphql, the ID of a run, a name for the group. MUSTER_TOKEN holds the API token.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/gorilla/websocket"
)

//go:generate go tool genqlient

type bearer struct{ token string }

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(request)
}

// dialer adapts gorilla/websocket to genqlient.
type dialer struct{ *websocket.Dialer }

func (d dialer) DialContext(ctx context.Context, url string, header http.Header) (graphql.WSConn, error) {
	connection, _, err := d.Dialer.DialContext(ctx, url, header)
	return connection, err
}

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Getenv("MUSTER_TOKEN")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url, runID, groupName, token string) error {
	client := graphql.NewClient(url, &http.Client{Transport: bearer{token}})
	nodes, err := Nodes(ctx, client, 10)
	if err != nil {
		return err
	}
	for _, edge := range nodes.Nodes.Edges {
		fmt.Println("node", edge.Node.Name)
	}

	created, err := CreateGroup(ctx, client, &CreateNodeGroupInput{Name: groupName})
	if err != nil {
		return err
	}
	switch result := created.CreateNodeGroup.(type) {
	case *CreateGroupCreateNodeGroupCreateNodeGroupPayload:
		fmt.Println("group", result.NodeGroup.Name)
	case interface{ GetMessage() string }:
		return errors.New(result.GetMessage())
	}

	return follow(ctx, url, runID, token)
}

// follow prints the log of a run until it ends. After a lost connection it would continue after the last sequence number.
func follow(ctx context.Context, url, runID, token string) error {
	socket := graphql.NewClientUsingWebSocket(
		strings.Replace(url, "http", "ws", 1),
		dialer{websocket.DefaultDialer},
		graphql.WithConnectionParams(map[string]any{"Authorization": "Bearer " + token}),
	)
	failures, err := socket.Start(ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	batches, _, err := Log(ctx, socket, runID, nil)
	if err != nil {
		return err
	}
	for {
		select {
		case batch, open := <-batches:
			if !open {
				return nil
			}
			if batch.Errors != nil {
				return batch.Errors
			}
			for _, event := range batch.Data.JobRunEvents.Events {
				fmt.Println("event", event.Seq)
			}
		case err := <-failures:
			return err
		}
	}
}
